package evidence

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"

	"holdfast/metastore"
	"holdfast/reconcile/splitfile/segment"
)

// record is the JSON form of evidence, for a journal.
type record struct {
	FooterStart  uint64               `json:"footer_start"`
	NumDocs      uint64               `json:"num_docs"`
	Opstamp      uint64               `json:"opstamp,omitempty"`
	Schema       []byte               `json:"schema"`
	Origin       segment.Origin       `json:"origin"`
	Blocks       []byte               `json:"blocks,omitempty"` // leb documents and bytes of each
	AreaChecksum uint32               `json:"area_checksum"`
	Compression  segment.Compression  `json:"compression"`
	StoreVersion uint32               `json:"store_version"`
	Fields       Fields               `json:"fields"`
	TimeRange    *metastore.TimeRange `json:"time_range,omitempty"`
	Tags         []string             `json:"tags,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (e *Evidence) MarshalJSON() ([]byte, error) {
	r := record{
		FooterStart: e.FooterStart, NumDocs: e.NumDocs, Opstamp: e.Opstamp, Schema: e.Schema[:], Origin: e.Origin,
		AreaChecksum: e.AreaChecksum, Compression: e.Compression, StoreVersion: e.StoreVersion, Fields: e.Fields, Tags: e.Tags,
	}
	for _, b := range e.Blocks {
		r.Blocks = binary.AppendUvarint(binary.AppendUvarint(r.Blocks, uint64(b.Docs)), uint64(b.Size))
	}
	if e.TimeRange.Set {
		r.TimeRange = &e.TimeRange.Value
	}
	return json.Marshal(r)
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Evidence) UnmarshalJSON(text []byte) error {
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	if len(r.Schema) != len(e.Schema) || r.Origin > segment.Merged {
		return errors.New("the evidence is malformed")
	}
	*e = Evidence{
		FooterStart: r.FooterStart, NumDocs: r.NumDocs, Opstamp: r.Opstamp, Schema: [32]byte(r.Schema), Origin: r.Origin,
		AreaChecksum: r.AreaChecksum, Compression: r.Compression, StoreVersion: r.StoreVersion, Fields: r.Fields, Tags: r.Tags,
	}
	for rest := r.Blocks; len(rest) > 0; {
		docs, n := binary.Uvarint(rest)
		size, m := binary.Uvarint(rest[max(n, 0):])
		if n <= 0 || m <= 0 || docs > math.MaxUint32 || size > math.MaxUint32 {
			return errors.New("the blocks of the evidence are malformed")
		}
		e.Blocks, rest = append(e.Blocks, segment.Block{Docs: uint32(docs), Size: uint32(size)}), rest[n+m:]
	}
	if r.TimeRange != nil {
		e.TimeRange = metastore.Some(*r.TimeRange)
	}
	return nil
}
