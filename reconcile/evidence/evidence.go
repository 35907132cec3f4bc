// Package evidence reads from a split file without a recovery entry what its row and its lineage can be
// known from: see packages segment and containment. It reads no more than the ends of the files of the
// segment, and blocks of documents where it is asked for them.
package evidence

import (
	"context"
	"crypto/sha256"
	"slices"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/reconcile/splitfile"
	"holdfast/reconcile/splitfile/segment"
)

// Fields are the fields of an index that a row tells of. The zero value is that they are not known.
type Fields struct {
	Time string   `json:"time_field,omitempty"` // empty if there is none
	Tags []string `json:"tag_fields,omitempty"` // sorted
}

// FieldsOf returns the fields that a configuration names; nil names none.
func FieldsOf(config *indexconfig.IndexConfig) Fields {
	var fields Fields
	if config == nil {
		return fields
	}
	if config.DocMapping.TimestampField != nil {
		fields.Time = *config.DocMapping.TimestampField
	}
	fields.Tags = append(fields.Tags, config.DocMapping.TagFields...)
	return fields
}

// Equal reports whether they are the same.
func (f Fields) Equal(other Fields) bool {
	return f.Time == other.Time && slices.Equal(f.Tags, other.Tags)
}

// Evidence is what a split file tells of itself without a document being read.
type Evidence struct {
	FooterStart  uint64
	NumDocs      uint64 // documents that a search finds
	Opstamp      uint64
	Schema       [sha256.Size]byte
	Origin       segment.Origin
	Blocks       []segment.Block
	AreaChecksum uint32
	Compression  segment.Compression
	StoreVersion uint32
	// Fields are those that TimeRange and Tags are about.
	Fields Fields
	// TimeRange is exact, in seconds. It is absent if the time field is not known, has no values in the
	// split, or cannot be what it seems.
	TimeRange metastore.Optional[metastore.TimeRange]
	// Tags are exact, sorted; fields that cannot be tags of this split are left out.
	Tags []string
}

// Read reads the evidence of an opened file.
func Read(ctx context.Context, file *splitfile.File, fields Fields) (*Evidence, error) {
	s, err := segment.Open(ctx, file, segment.Limits{})
	if err != nil {
		return nil, err
	}
	e := &Evidence{
		FooterStart: uint64(file.Layout.FooterStart), NumDocs: s.Meta.NumDocs, Opstamp: s.Meta.Opstamp,
		Schema: s.Meta.SchemaHash, Fields: fields,
	}
	store, err := s.Store(ctx)
	if err != nil {
		return nil, err
	}
	e.Blocks, e.AreaChecksum, e.Compression, e.StoreVersion = store.Blocks, store.AreaChecksum, store.Compression, store.Version
	if err := e.readTerms(ctx, s); err != nil {
		return nil, err
	}
	if fields.Time == "" {
		return e, nil
	}
	times, plausible, err := s.Times(ctx, fields.Time)
	if err != nil {
		return nil, err
	}
	if times.Found && plausible {
		e.TimeRange = metastore.Some(times.Range())
	}
	return e, nil
}

func (e *Evidence) readTerms(ctx context.Context, s *segment.Segment) error {
	terms, err := s.Terms(ctx)
	if err != nil {
		return err
	}
	if e.Origin, err = terms.Origin(ctx); err != nil {
		return err
	}
	for _, field := range e.Fields.Tags {
		tags, err := terms.Tags(ctx, field)
		if err != nil {
			return err
		}
		e.Tags = append(e.Tags, tags...)
	}
	slices.Sort(e.Tags)
	e.Tags = slices.Compact(e.Tags)
	return nil
}
