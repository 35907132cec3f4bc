package splitinput

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// documentOf returns the metadata document in a split's text, compact. A row of a listing or of a
// metastore.json has the state and the times of the row in front of the metadata, in the same object;
// they belong to the metastore that the row comes from and are left out.
func documentOf(text []byte) (document []byte, state string, err error) {
	compact := jsontext.Value(bytes.Clone(text))
	if err := compact.Compact(); err != nil {
		return nil, "", err
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(compact))
	if _, err := decoder.ReadToken(); err != nil {
		return nil, "", err
	}
	document = append(make([]byte, 0, len(compact)), '{')
	for decoder.PeekKind() == '"' {
		quoted, err := decoder.ReadValue()
		if err != nil {
			return nil, "", err
		}
		name := bytes.Clone(quoted)
		value, err := decoder.ReadValue()
		if err != nil {
			return nil, "", err
		}
		switch string(name) {
		case `"split_state"`:
			if state, err = stateOf(value); err != nil {
				return nil, "", err
			}
			continue
		case `"update_timestamp"`, `"publish_timestamp"`:
			continue
		}
		if len(document) > 1 {
			document = append(document, ',')
		}
		document = append(append(append(document, name...), ':'), value...)
	}
	if _, err := decoder.ReadToken(); err != nil && !errors.Is(err, io.EOF) {
		return nil, "", err
	}
	return append(document, '}'), state, nil
}

func stateOf(value jsontext.Value) (string, error) {
	if value.Kind() != '"' || len(value) > 100 {
		return "", fmt.Errorf("split_state is a JSON %s, must be a short string", kindName(value.Kind()))
	}
	text, err := jsontext.AppendUnquote(nil, value)
	return string(text), err
}
