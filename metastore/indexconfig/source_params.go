package indexconfig

import (
	"errors"
	"fmt"

	"holdfast/metastore/internal/strictjson"
)

// readParams reads the parameters of the source type, which may stand before
// the type in the document, into their canonical form. text is nil when the key
// is absent.
func (c *SourceConfig) readParams(text []byte) error {
	var read func(*strictjson.Reader, *strictjson.Writer) error
	switch c.SourceType {
	case SourceIngest, SourceIngestAPI, SourceIngestCLI, "stdin":
		if text != nil && string(text) != "null" {
			return strictjson.Within("params", fmt.Errorf("a source of type %s has no parameters", c.SourceType))
		}
		return nil
	case SourceVoid:
		read = voidParams
	case SourceFile:
		read = c.fileParams
	case SourceKafka:
		read = kafkaParams
	case SourceKinesis:
		read = kinesisParams
	case SourcePubSub:
		read = pubSubParams
	case SourcePulsar:
		read = pulsarParams
	case SourceVec:
		read = vecParams
	}
	if text == nil {
		return errors.New("required key \"params\" is missing")
	}
	w := strictjson.AppendTo(nil)
	err := strictjson.Decode("params", text, func(r *strictjson.Reader) error { return read(r, w) })
	c.Params = w.Bytes()
	return err
}

func voidParams(r *strictjson.Reader, w *strictjson.Writer) error {
	w.Null()
	if r.IsNull() {
		return r.Skip()
	}
	return r.Object(nil, strictjson.Reject, nil)
}

// writePresent writes a key whose value is left out when there is none.
func writePresent(w *strictjson.Writer, key string, text *string) {
	if text != nil {
		w.Key(key).String(*text)
	}
}

func writeBackfill(w *strictjson.Writer, enabled bool) {
	if enabled {
		w.Key("enable_backfill_mode").Bool(true)
	}
}
