// Package partition computes the partition of a document as an indexer of the peer does: a hash of the
// index's partition key and of what the key selects in the document.
package partition

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Key is a parsed partition key. The zero value selects nothing; all documents are in partition 0 then.
type Key struct{ root expression }

// IsEmpty reports whether the key puts all documents into partition 0.
func (k Key) IsEmpty() bool { return k.root == nil }

// Overflow is the partition of the split that collects the documents of all partitions beyond the most
// that an index may have.
const Overflow uint64 = 3264326757911759461

// expression is a field, a list, or hash_mod of an expression.
type expression interface {
	// appendTree appends the form of the expression, which is a part of what is hashed.
	appendTree(to []byte) []byte
	// appendValue appends what it selects in a document.
	appendValue(to []byte, doc Document) ([]byte, error)
}

// maxDepth is how deeply a key may be nested.
const maxDepth = 64

// ParseKey parses a partition key: fields and hash_mod(expression, number), with commas between the
// members of a list, and parentheses around it where it is an argument. Blanks do not count. The empty key
// is allowed.
func ParseKey(text string) (Key, error) {
	p := parser{rest: strings.TrimLeft(text, blanks)}
	if p.rest == "" {
		return Key{}, nil
	}
	root, err := p.list(0)
	if err == nil && p.rest != "" {
		err = fmt.Errorf("unexpected %.50q", p.rest)
	}
	if err != nil {
		return Key{}, fmt.Errorf("partition key %.200q: %w", text, err)
	}
	return Key{root}, nil
}

const blanks = " \t\r\n"

// parser reads a key; rest is what is left, without blanks before it.
type parser struct{ rest string }

func (p *parser) accept(symbol string) bool {
	rest, found := strings.CutPrefix(p.rest, symbol)
	if found {
		p.rest = strings.TrimLeft(rest, blanks)
	}
	return found
}

func (p *parser) expect(symbol string) error {
	if !p.accept(symbol) {
		return fmt.Errorf("%q is missing", symbol)
	}
	return nil
}

func (p *parser) word() string {
	n := strings.IndexAny(p.rest, blanks+"(),")
	if n < 0 {
		n = len(p.rest)
	}
	word := p.rest[:n]
	p.rest = strings.TrimLeft(p.rest[n:], blanks)
	return word
}

// list reads expressions with commas between them; a single one is no list.
func (p *parser) list(depth int) (expression, error) {
	if depth > maxDepth {
		return nil, errors.New("it is nested too deeply")
	}
	var members list
	for {
		member, err := p.item(depth)
		if err != nil {
			return nil, err
		}
		members = append(members, member)
		if !p.accept(",") {
			break
		}
	}
	if len(members) == 1 {
		return members[0], nil
	}
	return members, nil
}

func (p *parser) item(depth int) (expression, error) {
	if p.accept("(") {
		inner, err := p.list(depth + 1)
		if err == nil {
			err = p.expect(")")
		}
		return inner, err
	}
	name := p.word()
	if name == "" {
		return nil, errors.New("a field name is missing")
	}
	if !p.accept("(") {
		return parsePath(name), nil
	}
	if name != "hash_mod" {
		return nil, fmt.Errorf("unknown function %.50q; the only one is hash_mod", name)
	}
	inner, err := p.argument(depth)
	if err != nil {
		return nil, err
	}
	modulus, err := strconv.ParseUint(p.word(), 10, 64)
	if err != nil {
		return nil, errors.New("hash_mod needs a number after the comma")
	}
	return hashMod{inner, modulus}, p.expect(")")
}

// argument reads the first argument of hash_mod and the comma behind it.
func (p *parser) argument(depth int) (expression, error) {
	if depth >= maxDepth {
		return nil, errors.New("it is nested too deeply")
	}
	inner, err := p.item(depth + 1)
	if err == nil {
		err = p.expect(",")
	}
	return inner, err
}

// parsePath splits a field name at its dots, but not at those behind a backslash.
func parsePath(name string) path {
	var segments path
	var segment strings.Builder
	for i := 0; i < len(name); i++ {
		switch {
		case name[i] == '\\' && i+1 < len(name) && name[i+1] == '.':
			segment.WriteByte('.')
			i++
		case name[i] == '.':
			segments = append(segments, segment.String())
			segment.Reset()
		default:
			segment.WriteByte(name[i])
		}
	}
	return append(segments, segment.String())
}
