package file

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/oklog/ulid/v2"

	"holdfast/metastore/indexconfig"
	"holdfast/metastore/internal/strictjson"
)

// rootCodec writes the snapshots of the root log: Quickwit's manifest (version 0.9) with our member
// "holdfast". An id may be without an index, so the manifest of an export is not a mere copy.
//
//	{"version":"0.9",
//	 "holdfast":{"format":1,"log_version":7,"write_id":"6f…"},
//	 "records":[<idempotency record>],
//	 "generations":{"<index id>":"<ULID>"},
//	 "indexes":{"<index id>":"active"},
//	 "templates":[<index template document>],
//	 "identity":"<UUID>",
//	 "crc32c":"0a1b2c3d"}
var rootCodec = snapshotCodec[*rootState]{blank: newRootState, write: writeRootSnapshot, read: readRootSnapshot}

func writeRootSnapshot(w io.Writer, h *head[*rootState]) error {
	text := append(appendSnapshotHead([]byte(`{"version":"0.9","holdfast":`), h), '}')
	text, err := writeRecords(w, text, &h.state.records)
	if err != nil {
		return err
	}
	text = append(text, `,"generations":{`...)
	text = appendIndexIDs(text, h.state, ulid.ULID.String)
	text = append(text, `},"indexes":{`...)
	text = appendIndexIDs(text, h.state, func(ulid.ULID) string { return "active" })
	text = append(appendTemplates(append(text, `},"templates":[`...), h.state), ']')
	if h.state.identity != "" {
		text = strictjson.AppendString(append(text, `,"identity":`...), h.state.identity)
	}
	_, err = w.Write(text)
	return err
}

func appendIndexIDs(dst []byte, s *rootState, value func(ulid.ULID) string) []byte {
	first := true
	s.indexes.Scan(func(id string, generation ulid.ULID) bool {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = strictjson.AppendString(dst, id)
		dst = strictjson.AppendString(append(dst, ':'), value(generation))
		return true
	})
	return dst
}

func appendTemplates(dst []byte, s *rootState) []byte {
	first := true
	s.templates.Scan(func(_ string, template *indexconfig.IndexTemplate) bool {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = template.AppendJSON(dst)
		return true
	})
	return dst
}

func readRootSnapshot(r io.Reader) (*head[*rootState], error) {
	h := &head[*rootState]{state: newRootState()}
	described := false
	err := readSnapshotMembers(r, nil, func(d *snapshotDecoder, key string) error {
		switch key {
		case "version":
			return d.version()
		case "holdfast":
			described = true
			return d.head(&h.version, &h.writeID, nil)
		case "records":
			return d.records(&h.state.records)
		case "generations":
			return d.generations(h.state)
		case "templates":
			return d.templates(h.state)
		case "identity":
			return d.decode(func(r *strictjson.Reader) error { return readUUID(r, &h.state.identity) })
		default:
			return d.SkipValue()
		}
	})
	if err == nil && !described {
		err = errors.New("member holdfast is missing")
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}

func (d *snapshotDecoder) generations(s *rootState) error {
	return d.decode(func(r *strictjson.Reader) error {
		return r.Map(func(id string) error {
			var generation ulid.ULID
			err := readParsed(r, &generation, ulid.ParseStrict)
			s.indexes.Set(id, generation)
			return err
		})
	})
}

// templates reads the peer's list. Of templates with the same id the last one counts.
func (d *snapshotDecoder) templates(s *rootState) error {
	return d.elements(func(text jsontext.Value) error {
		template, err := indexconfig.ParseStoredIndexTemplate(text)
		if err != nil {
			return err
		}
		s.templates.Set(template.TemplateID, template)
		return nil
	})
}

// decode reads one value that is small enough to hold.
func (d *snapshotDecoder) decode(read func(*strictjson.Reader) error) error {
	var text jsontext.Value
	text, err := d.ReadValue()
	if err != nil {
		return err
	}
	return strictjson.Decode("", text, read)
}
