package losses

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"holdfast/metastore/internal/strictjson"
)

// Reason says in which way something was lost.
type Reason string

const (
	// LeftOut is a member, or an element of a list, that is not there any more.
	LeftOut Reason = "left_out"
	// Repeated is a member or an element that comes again later, and the later one counts.
	Repeated Reason = "repeated"
	// Changed is a member that has another value now.
	Changed Reason = "changed"
)

// Loss is what was lost at one kind of place, once or many times. The JSON names are stable.
type Loss struct {
	// Path is the place: names of members joined by dots, in brackets and quotes where a name has other characters than letters, digits,
	// '_', '-', '@' and '$'. Positions in lists are "[*]", and names that are data, such as source ids, are "*". It
	// is Others for all places that the ledger had no room for.
	Path   string `json:"path"`
	Reason Reason `json:"reason"`
	// Count is how often it was lost there, at least 1.
	Count uint64 `json:"count"`
	// First is exactly where it was lost first, with positions and names.
	First string `json:"first"`
}

// Others is the path of what was lost at places that a ledger has no room for.
const Others = "…"

const (
	// maxPlaces is how many kinds of places a ledger tells apart.
	maxPlaces = 100
	// maxPath bounds a path, in bytes.
	maxPath = 300
)

// Ledger collects losses in bounded memory. The zero value is empty. A nil one collects nothing, and its methods
// may be called all the same.
type Ledger struct {
	path   []segment
	places map[place]*Loss
	parser parser
	// compact and written are room for the texts of one comparison.
	compact, written []byte
}

type place struct {
	path   string
	reason Reason
}

// segment is one step of a path: the name of a member, or a position if the name is empty and position is not negative.
type segment struct {
	name     string
	position int // -1: a member
	data     bool
}

// Enter goes to a member of a fixed name.
func (l *Ledger) Enter(name string) { l.enter(segment{name: name, position: -1}) }

// EnterData goes to a member whose name is data, such as a source id.
func (l *Ledger) EnterData(name string) { l.enter(segment{name: name, position: -1, data: true}) }

// EnterElement goes to an element of a list, counted from 0.
func (l *Ledger) EnterElement(position int) { l.enter(segment{position: position}) }

func (l *Ledger) enter(s segment) {
	if l != nil {
		l.path = append(l.path, s)
	}
}

// Leave goes back to where the last Enter came from.
func (l *Ledger) Leave() {
	if l != nil {
		l.path = l.path[:len(l.path)-1]
	}
}

// Add counts losses at the present place. A count of 0 is none.
func (l *Ledger) Add(reason Reason, count uint64) {
	if l == nil || count == 0 {
		return
	}
	at := place{l.render(true), reason}
	loss := l.places[at]
	if loss == nil && len(l.places) >= maxPlaces {
		at.path = Others
		loss = l.places[at]
	}
	if loss == nil {
		loss = &Loss{Path: at.path, Reason: reason, First: l.render(false)}
		if l.places == nil {
			l.places = map[place]*Loss{}
		}
		l.places[at] = loss
	}
	loss.Count += count
}

// render writes the present place, either its kind or exactly.
func (l *Ledger) render(kind bool) string {
	var path []byte
	for _, s := range l.path {
		switch {
		case s.position >= 0 && kind:
			path = append(path, "[*]"...)
		case s.position >= 0:
			path = append(strconv.AppendInt(append(path, '['), int64(s.position), 10), ']')
		case s.data && kind:
			path = append(dotted(path), '*')
		case isPlain(s.name):
			path = append(dotted(path), s.name...)
		default:
			path = append(append(append(path, '['), strictjson.Quote(s.name)...), ']')
		}
		if len(path) > maxPath {
			return strings.ToValidUTF8(string(path[:maxPath]), "") + "…"
		}
	}
	return string(path)
}

func dotted(path []byte) []byte {
	if len(path) == 0 {
		return path
	}
	return append(path, '.')
}

// isPlain reports whether a name needs no quotes in a path.
func isPlain(name string) bool {
	const maxPlain = 64
	if name == "" || len(name) > maxPlain {
		return false
	}
	for _, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("_-@$", rune(c)) {
			return false
		}
	}
	return true
}

// Losses returns what was lost, by path and reason, Others last. It is nil if nothing was.
func (l *Ledger) Losses() []Loss {
	if l == nil {
		return nil
	}
	var list []Loss
	for _, loss := range l.places {
		list = append(list, *loss)
	}
	slices.SortFunc(list, func(a, b Loss) int { return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Reason, b.Reason)) })
	return list
}

// Compare counts what source, at the present place, says and the text that write appends does not. Both must be JSON.
func (l *Ledger) Compare(shape *Shape, source []byte, write func(dst []byte) []byte) error {
	if l == nil {
		return nil
	}
	l.written = write(l.written[:0])
	// Nearly always the peer wrote what we write, but for white space.
	l.compact = strictjson.AppendCompact(l.compact[:0], source)
	if bytes.Equal(l.compact, l.written) {
		return nil
	}
	before, err := l.parser.parse(source)
	if err != nil {
		return fmt.Errorf("comparing %s: %w", l.render(false), err)
	}
	after, err := l.parser.parse(l.written)
	if err != nil {
		return fmt.Errorf("comparing %s with what is written: %w", l.render(false), err)
	}
	l.compare(shape, &before, &after)
	return nil
}
