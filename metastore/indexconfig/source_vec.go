package indexconfig

import (
	"github.com/go-json-experiment/json/jsontext"

	"holdfast/metastore/internal/strictjson"
)

var vecKeys = strictjson.Keys{{Name: "docs", Required: true}, {Name: "batch_num_docs", Required: true}, {Name: "partition"}}

// vecParams reads a source of given documents, each a string or an array of
// bytes, and writes arrays of bytes.
func vecParams(r *strictjson.Reader, w *strictjson.Writer) error {
	var (
		docs      [][]byte
		batch     uint64
		partition string
	)
	err := r.Object(vecKeys, strictjson.Reject, func(key string) error {
		switch key {
		case "docs":
			return strictjson.List(r, &docs, func(doc *[]byte) error { return readBytes(r, doc) })
		case "batch_num_docs":
			return r.Uint64(&batch)
		default:
			return r.String(&partition)
		}
	})
	w.Begin('{').Key("docs").Begin('[')
	for _, doc := range docs {
		w.Begin('[')
		for _, b := range doc {
			w.Uint64(uint64(b))
		}
		w.End(']')
	}
	w.End(']').Key("batch_num_docs").Uint64(batch).Key("partition").String(partition).End('}')
	return err
}

func readBytes(r *strictjson.Reader, into *[]byte) error {
	if r.Kind() == jsontext.KindString {
		var text string
		err := r.String(&text)
		*into = []byte(text)
		return err
	}
	return strictjson.List(r, into, r.Uint8)
}
