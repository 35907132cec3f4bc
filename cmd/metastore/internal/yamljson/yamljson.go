// Package yamljson turns one YAML document into JSON without changing a value: integers of any size
// keep all their digits, mappings keep their order.
package yamljson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

const (
	// maxOutput bounds the JSON text, in bytes: aliases can make a small document huge.
	maxOutput = 16 << 20
	maxDepth  = 100
)

// Convert returns the JSON text of the document. It refuses what JSON cannot say: several documents,
// keys that are no scalars, infinities, binary values, and merge keys. Scalars under the keys textKeys
// of the top level become strings, as for a version that people write without quotes.
func Convert(text []byte, textKeys ...string) ([]byte, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the YAML text is empty")
	case err != nil:
		return nil, err
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, err
		}
		return nil, errors.New("the YAML text holds several documents, must hold one")
	}
	c := &converter{textKeys: textKeys}
	if err := c.value(&document, 0); err != nil {
		return nil, err
	}
	return c.out, nil
}

type converter struct {
	out      []byte
	textKeys []string
}

func (c *converter) value(node *yaml.Node, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("line %d: nested deeper than %d", node.Line, maxDepth)
	}
	if len(c.out) > maxOutput {
		return fmt.Errorf("line %d: the document has more than %d bytes as JSON", node.Line, maxOutput)
	}
	switch node.Kind {
	case yaml.DocumentNode:
		return c.value(node.Content[0], depth)
	case yaml.AliasNode:
		return c.value(node.Alias, depth+1)
	case yaml.SequenceNode:
		c.out = append(c.out, '[')
		for i, element := range node.Content {
			if i > 0 {
				c.out = append(c.out, ',')
			}
			if err := c.value(element, depth+1); err != nil {
				return err
			}
		}
		c.out = append(c.out, ']')
		return nil
	case yaml.MappingNode:
		return c.mapping(node, depth)
	case yaml.ScalarNode:
		return c.scalar(node)
	default:
		return fmt.Errorf("line %d: unknown kind of YAML node", node.Line)
	}
}

func (c *converter) mapping(node *yaml.Node, depth int) error {
	seen := make(map[string]bool, len(node.Content)/2)
	c.out = append(c.out, '{')
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			return fmt.Errorf("line %d: a key must be text", key.Line)
		}
		if key.Tag == "!!merge" {
			return fmt.Errorf("line %d: merge keys (<<) are not supported, write the values out", key.Line)
		}
		if seen[key.Value] {
			return fmt.Errorf("line %d: key %q appears twice", key.Line, key.Value)
		}
		seen[key.Value] = true
		if i > 0 {
			c.out = append(c.out, ',')
		}
		if err := c.text(key); err != nil {
			return err
		}
		c.out = append(c.out, ':')
		if err := c.member(key.Value, node.Content[i+1], depth); err != nil {
			return err
		}
	}
	c.out = append(c.out, '}')
	return nil
}

func (c *converter) member(key string, value *yaml.Node, depth int) error {
	if depth == 0 && value.Kind == yaml.ScalarNode && slices.Contains(c.textKeys, key) {
		return c.text(value)
	}
	return c.value(value, depth+1)
}

func (c *converter) scalar(node *yaml.Node) error {
	switch tag := node.ShortTag(); tag {
	case "!!null":
		c.out = append(c.out, "null"...)
	case "!!bool":
		var value bool
		if err := node.Decode(&value); err != nil {
			return err
		}
		c.out = fmt.Appendf(c.out, "%t", value)
	case "!!int", "!!float":
		return c.number(node)
	case "!!str", "!!timestamp":
		return c.text(node)
	default:
		return fmt.Errorf("line %d: values of the YAML type %s have no JSON form", node.Line, tag)
	}
	return nil
}

// number keeps the text of a number that is one in JSON too, and writes integers of other bases in
// decimal.
func (c *converter) number(node *yaml.Node) error {
	text := strings.TrimPrefix(node.Value, "+")
	number := jsontext.Value(text)
	if number.IsValid() && number.Kind() == '0' {
		c.out = append(c.out, text...)
		return nil
	}
	if prefix := strings.ToLower(strings.TrimPrefix(text, "-")); strings.HasPrefix(prefix, "0x") || strings.HasPrefix(prefix, "0o") || strings.HasPrefix(prefix, "0b") {
		if integer, ok := new(big.Int).SetString(text, 0); ok {
			c.out = integer.Append(c.out, 10)
			return nil
		}
	}
	return fmt.Errorf("line %d: the number %q has no single meaning in JSON, write it in plain decimal digits", node.Line, node.Value)
}

func (c *converter) text(node *yaml.Node) error {
	quoted, err := jsontext.AppendQuote(c.out, node.Value)
	if err != nil {
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	c.out = quoted
	return nil
}
