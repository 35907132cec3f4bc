package splitfile

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Names of bundled files that have a meaning here.
const (
	// RecoveryEntryName is the bundled file that holds the split's row and its parents.
	RecoveryEntryName = "split_recovery_metadata"
	// MetaJSONName is the bundled file without which no searcher can open a split.
	MetaJSONName = "meta.json"
)

// maxNameSize is the cap on names in the bundle metadata, in bytes; file systems allow 255.
const maxNameSize = 4096

// maxDepth is how deeply unknown values may be nested; the bundle metadata itself has 3 levels.
const maxDepth = 64

// Entry is a bundled file.
type Entry struct {
	Name string
	Span
}

// parseBundle reads the JSON of the bundle metadata, {"files":{name:{"start":n,"end":n}}}, and returns
// the entries in the order of their places. offset is where the JSON is in the object, body is the
// size of the body, in which every entry must lie.
//
// Unknown keys beside "files" are ignored, repeated keys are refused.
func parseBundle(text []byte, offset, body int64, limits Limits) ([]Entry, error) {
	p := bundleParser{
		// Repeated names are found here; jsontext would remember those of ignored values, too.
		dec:    jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true)),
		offset: offset,
		body:   body,
		// The usual number of files.
		entries: make([]Entry, 0, 10),
		limit:   limits.Entries,
	}
	if err := p.document(); err != nil {
		return nil, err
	}
	slices.SortFunc(p.entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), strings.Compare(a.Name, b.Name))
	})
	return p.entries, nil
}

type bundleParser struct {
	dec     *jsontext.Decoder
	offset  int64
	body    int64
	limit   int
	entries []Entry
}

const bundleField = "bundle metadata"

func (p *bundleParser) document() error {
	files := false
	err := p.object(func(name string) error {
		if name != "files" {
			return p.skip()
		}
		if files {
			return p.fault(`bundle metadata key "files"`, "", "is repeated")
		}
		files = true
		return p.files()
	})
	if err == errNoObject {
		return p.fault(bundleField, "", "is not a JSON object")
	}
	if err != nil {
		return err
	}
	if !files {
		return fault("files", p.offset, "", "is missing in the bundle metadata")
	}
	if _, err := p.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return p.fault(bundleField, "", "is followed by something else")
	}
	return nil
}

func (p *bundleParser) files() error {
	seen := make(map[string]struct{}, 16)
	err := p.object(func(name string) error {
		if len(p.entries) == p.limit {
			return p.fault(fileField(name), "", "is one file more than the %d that are allowed", p.limit)
		}
		if _, again := seen[name]; again {
			return p.fault(fileField(name), "", "is repeated")
		}
		seen[name] = struct{}{}
		span, err := p.span(name)
		if err != nil {
			return err
		}
		p.entries = append(p.entries, Entry{Name: name, Span: span})
		return nil
	})
	if err == errNoObject {
		return p.fault("files", "", "is not a JSON object")
	}
	return err
}

// fileField names an entry in errors.
func fileField(name string) string { return "files[" + clip(name) + "]" }

// span reads the range of an entry.
func (p *bundleParser) span(name string) (Span, error) {
	span := Span{Start: -1, End: -1}
	err := p.object(func(key string) error {
		var into *int64
		switch key {
		case "start":
			into = &span.Start
		case "end":
			into = &span.End
		default:
			return p.fault(fileField(name)+" key", clip(key), `is neither "start" nor "end"`)
		}
		if *into >= 0 {
			return p.fault(fileField(name)+"."+key, "", "is repeated")
		}
		return p.position(name, key, into)
	})
	switch {
	case err == errNoObject:
		return Span{}, p.fault(fileField(name), "", "is not a JSON object")
	case err != nil:
		return Span{}, err
	case span.Start < 0:
		return Span{}, p.fault(fileField(name)+".start", "", "is missing")
	case span.End < 0:
		return Span{}, p.fault(fileField(name)+".end", "", "is missing")
	case span.Start > span.End:
		return Span{}, p.fault(fileField(name)+".start", number(span.Start), "is behind its end %d", span.End)
	}
	return span, nil
}

// position reads an offset within the body.
func (p *bundleParser) position(name, key string, into *int64) error {
	raw, err := p.dec.ReadValue()
	if err != nil {
		return p.syntax(err)
	}
	n, err := strconv.ParseUint(string(raw), 10, 64)
	at := p.at() - int64(len(raw))
	if err != nil {
		return fault(fileField(name)+"."+key, at, clip([]byte(raw)), "is not an unsigned 64-bit integer")
	}
	if n > uint64(p.body) {
		return fault(fileField(name)+"."+key, at, number(n), "is behind the end %d of the body", p.body)
	}
	*into = int64(n)
	return nil
}

// errNoObject is what object returns for another kind of value.
var errNoObject = errors.New("not a JSON object")

// object reads an object; member is called behind each name and must read the value.
func (p *bundleParser) object(member func(name string) error) error {
	token, err := p.dec.ReadToken()
	if err != nil {
		return p.syntax(err)
	}
	if token.Kind() != jsontext.KindBeginObject {
		return errNoObject
	}
	for {
		token, err := p.dec.ReadToken()
		if err != nil {
			return p.syntax(err)
		}
		if token.Kind() == jsontext.KindEndObject {
			return nil
		}
		name := token.String()
		if err := p.checkName(name); err != nil {
			return err
		}
		if err := member(name); err != nil {
			return err
		}
	}
}

// skip passes over a value. Its names and its depth are bounded: jsontext spells out the way to a
// fault, which else could be many times as long as the text.
func (p *bundleParser) skip() error {
	outside := p.dec.StackDepth()
	for {
		token, err := p.dec.ReadToken()
		if err != nil {
			return p.syntax(err)
		}
		depth := p.dec.StackDepth()
		if depth > maxDepth {
			return p.fault(bundleField, "", "is nested more than %d deep", maxDepth)
		}
		// In an object every other string is a name.
		kind, length := p.dec.StackIndex(depth)
		if token.Kind() == jsontext.KindString && kind == jsontext.KindBeginObject && length%2 == 1 {
			if err := p.checkName(token.String()); err != nil {
				return err
			}
		}
		if depth == outside {
			return nil
		}
	}
}

func (p *bundleParser) checkName(name string) error {
	if len(name) > maxNameSize {
		return p.fault(bundleField+" key", clip(name), "is longer than the %d bytes that are allowed", maxNameSize)
	}
	return nil
}

// at returns the offset in the object behind what was read.
func (p *bundleParser) at() int64 { return p.offset + p.dec.InputOffset() }

func (p *bundleParser) fault(field, value, problem string, args ...any) error {
	return fault(field, p.at(), value, problem, args...)
}

func (p *bundleParser) syntax(err error) error {
	// The whole error would repeat the names that lead to the place, however long they are.
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) && syntactic.Err != nil {
		err = syntactic.Err
	}
	return p.fault(bundleField, "", "is not valid JSON: %.200s", err.Error())
}

// checkTiling checks that the entries, in the order of their places, fill the body without gap and
// overlap, as every writer of recovery entries lays them out.
func checkTiling(entries []Entry, body int64) *FormatError {
	var next int64
	for _, e := range entries {
		if e.Start != next {
			what := "leaves a gap behind"
			if e.Start < next {
				what = "overlaps what ends at"
			}
			return fault(fileField(e.Name)+".start", e.Start, number(e.Start), what+" %d", next)
		}
		next = e.End
	}
	if next != body {
		return fault("files", next, "", "leave a gap between %d and the end %d of the body", next, body)
	}
	return nil
}
