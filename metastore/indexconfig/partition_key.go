package indexconfig

import (
	"errors"
	"fmt"
	"strings"

	"holdfast/metastore/internal/strictjson"
)

// validatePartitionKey checks a routing expression: field names and
// hash_mod(expression, number), joined by commas, parentheses around lists. The
// empty text is allowed, and so is a number of 0, because the peer allows them.
func validatePartitionKey(expression string) error {
	p := routingParser{rest: expression}
	p.blanks()
	if p.rest == "" {
		return nil
	}
	err := p.list(0)
	if err == nil && p.rest != "" {
		err = fmt.Errorf("unexpected %s", strictjson.Quote(p.rest))
	}
	if err != nil {
		return fmt.Errorf("%s is not a partition key: %w", strictjson.Quote(expression), err)
	}
	return nil
}

// routingParser reads an expression from its beginning; rest is what is left,
// without blanks before it.
type routingParser struct{ rest string }

const maxRoutingDepth = 64

func (p *routingParser) list(depth int) error {
	if depth > maxRoutingDepth {
		return errors.New("it is nested too deeply")
	}
	for {
		if err := p.item(depth); err != nil {
			return err
		}
		if !p.accept(",") {
			return nil
		}
	}
}

func (p *routingParser) item(depth int) error {
	if p.accept("(") {
		if err := p.list(depth + 1); err != nil {
			return err
		}
		return p.expect(")")
	}
	name := p.word()
	if name == "" {
		return errors.New("a field name is missing")
	}
	if !p.accept("(") {
		return nil
	}
	if name != "hash_mod" {
		return fmt.Errorf("unknown function %s; the only one is hash_mod", strictjson.Quote(name))
	}
	if err := p.item(depth + 1); err != nil {
		return err
	}
	if err := p.expect(","); err != nil {
		return err
	}
	if number := p.word(); number == "" || prefixLength(number, isDigit) != len(number) {
		return fmt.Errorf("hash_mod needs a number after the comma, not %s", strictjson.Quote(number))
	}
	return p.expect(")")
}

func (p *routingParser) word() string {
	n := strings.IndexAny(p.rest, " \t\r\n(),")
	if n < 0 {
		n = len(p.rest)
	}
	word := p.rest[:n]
	p.rest = p.rest[n:]
	p.blanks()
	return word
}

func (p *routingParser) accept(symbol string) bool {
	rest, found := strings.CutPrefix(p.rest, symbol)
	if found {
		p.rest = rest
		p.blanks()
	}
	return found
}

func (p *routingParser) expect(symbol string) error {
	if !p.accept(symbol) {
		return fmt.Errorf("%q is missing", symbol)
	}
	return nil
}

func (p *routingParser) blanks() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }
