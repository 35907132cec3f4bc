package strictjson

import (
	"errors"
	"fmt"
	"strings"
)

// Key declares one key of an object.
type Key struct {
	// Name is the key as it is written.
	Name string
	// Alias is another spelling that is accepted on read. Empty: none.
	// A key and its alias in one object count as the key given twice.
	Alias string
	// Required makes the absence of the key an error.
	Required bool
}

// Keys declares the keys of an object, at most 64, best in the order in which
// documents are written: they are then found at the first comparison.
type Keys []Key

// Unknown says what to do with a key that is not declared.
type Unknown int

const (
	// Reject makes an undeclared key an error.
	Reject Unknown = iota
	// Ignore skips an undeclared key and its value, however often it is given.
	Ignore
	// Pass hands an undeclared key to the field function as it is, which must
	// read its value.
	Pass
)

// find returns the position of the key called name, looking from hint on and
// then before it; -1 when it is not declared.
func (k Keys) find(name []byte, hint int) int {
	for i := hint; i < len(k); i++ {
		if k[i].is(name) {
			return i
		}
	}
	for i := 0; i < hint && i < len(k); i++ {
		if k[i].is(name) {
			return i
		}
	}
	return -1
}

func (k Key) is(name []byte) bool {
	return string(name) == k.Name || k.Alias != "" && string(name) == k.Alias
}

// missing returns an error when a required key is not among those seen.
func (k Keys) missing(seen uint64) error {
	for i, key := range k {
		if key.Required && seen&(1<<i) == 0 {
			return missingKey(key.Name)
		}
	}
	return nil
}

func missingKey(name string) error { return fmt.Errorf("required key %q is missing", name) }

func (k Keys) unknown(name []byte) error {
	if len(k) == 0 {
		return fmt.Errorf("unknown key %s; no key is allowed here", Quote(string(name)))
	}
	names := make([]string, len(k))
	for i, key := range k {
		names[i] = key.Name
	}
	return fmt.Errorf("unknown key %s; known keys are %s", Quote(string(name)), strings.Join(names, ", "))
}

var errDuplicate = errors.New("the key is given twice")
