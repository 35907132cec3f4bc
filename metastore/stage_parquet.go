package metastore

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// PrepareParquetStage applies the rules of staging Parquet splits that do not depend on what is stored: it
// checks that every document names the index and keeps the limits, keeps the last split of each id, and
// sorts them by the bytes of their ids. The list given is not changed. It fails with InvalidArgument, naming the
// split and the field.
func PrepareParquetStage(indexUID IndexUID, splits []ParquetSplitMetadata) ([]*ParquetSplitMetadata, error) {
	last := make(map[string]*ParquetSplitMetadata, len(splits))
	for i := range splits {
		split, err := stageableParquet(indexUID, &splits[i])
		if err != nil {
			return nil, err
		}
		last[split.SplitID] = split
	}
	prepared := make([]*ParquetSplitMetadata, 0, len(last))
	for _, split := range last {
		prepared = append(prepared, split)
	}
	slices.SortFunc(prepared, func(a, b *ParquetSplitMetadata) int { return strings.Compare(a.SplitID, b.SplitID) })
	return prepared, nil
}

// stageableParquet returns the split as it will be read from the store.
func stageableParquet(indexUID IndexUID, m *ParquetSplitMetadata) (*ParquetSplitMetadata, error) {
	refuse := func(field, format string, args ...any) (*ParquetSplitMetadata, error) {
		return nil, InvalidArgument("staging split %s: "+field+" "+format, append([]any{quoteBounded(m.SplitID)}, args...)...)
	}
	if m.document == "" {
		// It did not come as a document: what is stored must be what is read again.
		stored, err := ParseParquetSplitMetadata([]byte(m.Document()))
		switch {
		case err != nil:
			return refuse("document", "cannot be read: %v", err)
		case stored.SplitID != m.SplitID:
			return refuse("split_id", "is not valid UTF-8")
		}
		m = &stored
	}
	if uid, err := ParseIndexUID(m.IndexUID); err != nil || uid != indexUID {
		return refuse("index_uid", "is %s, and the request is about %s", quoteBounded(m.IndexUID), quoteBounded(indexUID.String()))
	}
	if n := utf8.RuneCountInString(m.SplitID); n > MaxSplitIDLength {
		return refuse("split_id", "has %d characters; at most %d are allowed", n, MaxSplitIDLength)
	}
	for _, number := range [...]struct {
		field       string
		value, most uint64
	}{
		{"time_range.start_secs", m.TimeStart, math.MaxInt64},
		{"time_range.end_secs", m.TimeEnd, math.MaxInt64},
		{"num_rows", m.NumRows, math.MaxInt64},
		{"size_bytes", m.SizeBytes, math.MaxInt64},
		{"window_duration_secs", uint64(m.Window.Value.Duration), math.MaxInt32},
		{"num_merge_ops", uint64(m.NumMergeOps), math.MaxInt32},
	} {
		if number.value > number.most {
			return refuse(number.field, "is %d; at most %d is allowed", number.value, number.most)
		}
	}
	if window := m.Window.Value; window.Start > math.MaxInt64-int64(window.Duration) {
		return refuse("window_start", "is %d, and the window of %d seconds ends behind 2^63-1", window.Start, window.Duration)
	}
	if _, ok := m.MaturityTimestamp(); !ok {
		return refuse("maturity", "of %d ms after created_at %d is outside the range of timestamps", m.Maturity.PeriodMillis, m.CreatedSeconds)
	}
	if holdsEscapedNUL(m.document) {
		return refuse("document", "holds the character U+0000, which a store cannot hold")
	}
	return m, nil
}
