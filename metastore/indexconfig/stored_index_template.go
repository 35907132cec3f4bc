package indexconfig

import (
	"github.com/go-json-experiment/json/jsontext"

	"holdfast/metastore/internal/strictjson"
)

// ParseStoredIndexTemplate reads a template that a store holds: its shape, but not
// whether it validates, because a peer may have stored it without. A text of another shape is
// carried as it is; see [ParseStoredIndexConfig]. Such a template keeps its
// patterns and its priority as far as they can be read, so it still matches. Only a text that is
// no JSON object with a template_id is an error.
//
// A doc mapping without UID, which PostgreSQL stores of the peer hold, gets the nil UID. Nothing
// uses the UID of a template's mapping.
func ParseStoredIndexTemplate(text []byte) (*IndexTemplate, error) {
	t, err := parse("index_template", text, func(t *IndexTemplate, r *strictjson.Reader) error {
		return t.read(r, readStoredURI, nil)
	})
	if err == nil {
		return t, nil
	}
	return parse("index_template", text, (*IndexTemplate).salvage)
}

func readStoredURI(r *strictjson.Reader, into *string) error {
	err := r.String(into)
	*into = storedURI(*into)
	return err
}

// Readable reports whether the whole template could be read. Only templates from
// [ParseStoredIndexTemplate] may not be.
func (t *IndexTemplate) Readable() bool { return t.verbatim == nil }

var salvagedTemplateKeys = strictjson.Keys{{Name: "template_id", Required: true}, {Name: "index_id_patterns"}, {Name: "priority"}}

// salvage keeps the text of a template that has not the expected shape, and reads
// from it what the metastore needs as far as it can.
func (t *IndexTemplate) salvage(r *strictjson.Reader) error {
	t.setDefaults()
	var raw []byte
	if err := r.Raw(&raw); err != nil {
		return err
	}
	t.verbatim = strictjson.AppendCompact(nil, raw)
	return strictjson.Decode("", raw, func(r *strictjson.Reader) error {
		return r.Object(salvagedTemplateKeys, strictjson.Ignore, func(key string) error {
			if key == "template_id" {
				return r.String(&t.TemplateID)
			}
			var value []byte
			if err := r.Raw(&value); err != nil {
				return err
			}
			switch kind := jsontext.Value(value).Kind(); {
			case key == "priority" && kind == jsontext.KindNumber:
				// A number of another form than ours ranks lowest.
				_ = strictjson.Decode("", value, func(r *strictjson.Reader) error { return r.Uint64(&t.Priority) })
			case key == "index_id_patterns" && kind == jsontext.KindBeginArray:
				var patterns []string
				err := strictjson.Decode("", value, func(r *strictjson.Reader) error { return strictjson.List(r, &patterns, r.String) })
				if err == nil {
					t.IndexIDPatterns = patterns
				}
			}
			return nil
		})
	})
}
