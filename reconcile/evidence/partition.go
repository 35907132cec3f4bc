package evidence

import (
	"context"
	"errors"

	"holdfast/reconcile/partition"
	"holdfast/reconcile/splitfile"
	"holdfast/reconcile/splitfile/segment"
)

// sourceField holds the JSON of a document as it was indexed, if the index stores it.
const sourceField = "_source"

// ReadPartition computes the partition of a split from the documents of its first block. exact is false if
// they do not tell it: then the split is not known to be in any.
func ReadPartition(ctx context.Context, file *splitfile.File, key partition.Key) (id uint64, exact bool, err error) {
	if key.IsEmpty() {
		return 0, true, nil
	}
	s, err := segment.Open(ctx, file, segment.Limits{})
	if err != nil {
		return 0, false, err
	}
	source := -1
	for i := range s.Meta.Fields {
		if s.Meta.Fields[i].Name == sourceField {
			source = i
		}
	}
	store, err := s.Store(ctx)
	if err != nil || source < 0 || len(store.Blocks) == 0 {
		return 0, false, err
	}
	different := false
	err = store.ReadBlocks(ctx, 0, 1, func(_ int, _ uint32, docs segment.Documents) error {
		for i := range docs.Len() {
			one, err := partitionOf(docs.At(i), store.Version, uint32(source), key)
			if err != nil {
				return err
			}
			different = different || i > 0 && one != id
			id = one
		}
		return nil
	})
	switch {
	case errors.Is(err, partition.ErrNotExact):
		return 0, false, nil
	case err != nil:
		return 0, false, err
	case different:
		// Only the split for all partitions beyond the most that an index may have holds several.
		return partition.Overflow, true, nil
	}
	return id, true, nil
}

func partitionOf(doc []byte, version, source uint32, key partition.Key) (uint64, error) {
	values, err := segment.DecodeDocument(doc, version)
	if err != nil {
		return 0, err
	}
	for _, v := range values {
		if object, ok := v.Value.(segment.Object); ok && v.Field == source {
			return key.Of(object)
		}
	}
	return 0, partition.ErrNotExact
}
