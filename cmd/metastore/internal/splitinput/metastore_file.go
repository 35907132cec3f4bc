package splitinput

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// splitsKey is the key of the rows in the document that the peer's file-backed store keeps of an index.
const splitsKey = "splits"

// firstObject reads the first object of the input. If it has a key "splits" it is a metastore.json,
// whose rows are read one by one. Otherwise it is a split, and more may follow.
func (r *Reader) firstObject() ([]byte, error) {
	if _, err := r.decoder.ReadToken(); err != nil {
		return nil, err
	}
	members := []byte{'{'}
	for {
		kind, err := r.peek()
		if err != nil {
			return nil, unexpectedEnd(err)
		}
		r.bounded.allow(maxOtherSize)
		if kind == '}' {
			if _, err := r.decoder.ReadToken(); err != nil {
				return nil, unexpectedEnd(err)
			}
			if len(members) > MaxSplitSize {
				return nil, fmt.Errorf("split 1 has more than %d bytes", MaxSplitSize)
			}
			r.form = Lines
			r.next = r.line
			return append(members, '}'), nil
		}
		name, err := r.decoder.ReadValue()
		if err != nil {
			return nil, unexpectedEnd(err)
		}
		key, err := jsontext.AppendUnquote(nil, name)
		if err != nil {
			return nil, err
		}
		if string(key) == splitsKey {
			return r.rows()
		}
		if len(members) > 1 {
			members = append(members, ',')
		}
		members = append(append(members, name...), ':')
		if members, err = r.keepValue(members); err != nil {
			return nil, err
		}
	}
}

// keepValue reads the next value and adds it to members, unless there is more already than a split
// can have: then only what a metastore.json needs to go on is read.
func (r *Reader) keepValue(members []byte) ([]byte, error) {
	if len(members) > MaxSplitSize {
		return members, unexpectedEnd(r.decoder.SkipValue())
	}
	value, err := r.decoder.ReadValue()
	if err != nil {
		return nil, unexpectedEnd(err)
	}
	return append(members, value...), nil
}

// rows begins to read the rows of a metastore.json.
func (r *Reader) rows() ([]byte, error) {
	r.form = MetastoreFile
	kind, err := r.peek()
	if err != nil {
		return nil, unexpectedEnd(err)
	}
	if kind != '[' {
		return nil, fmt.Errorf("key %q is a JSON %s, must be an array of splits", splitsKey, kindName(kind))
	}
	if _, err := r.decoder.ReadToken(); err != nil {
		return nil, unexpectedEnd(err)
	}
	r.next = r.element
	return r.element()
}

// restOfFile reads what is behind the rows of a metastore.json and throws it away. The rows count
// only if the document is whole.
func (r *Reader) restOfFile() error {
	for {
		kind, err := r.peek()
		if err != nil {
			return unexpectedEnd(err)
		}
		r.bounded.allow(maxOtherSize)
		if kind == '}' {
			if _, err := r.decoder.ReadToken(); err != nil {
				return unexpectedEnd(err)
			}
			return r.end("the metastore.json")
		}
		for range 2 { // a name and its value
			if err := r.decoder.SkipValue(); err != nil {
				return unexpectedEnd(err)
			}
		}
	}
}
