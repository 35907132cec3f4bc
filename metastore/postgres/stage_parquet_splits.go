package postgres

import (
	"context"
	"encoding/hex"

	"holdfast/metastore"
)

// StageParquetSplits implements metastore.ParquetSplitStore.
func (s *Store) StageParquetSplits(ctx context.Context, kind metastore.ParquetKind, indexUID metastore.IndexUID, splits []metastore.ParquetSplitMetadata) error {
	const operation = "staging Parquet splits"
	if err := s.refuseReadOnly(operation); err != nil {
		return err
	}
	prepared, err := metastore.PrepareParquetStage(indexUID, splits)
	if err != nil || len(prepared) == 0 {
		return err
	}
	stage := []query{{sql: parquetTables[kind].stage, args: stageParquetArguments(indexUID, prepared)}}
	for attempt := 1; ; attempt++ {
		err := s.write(ctx, operation, func() []query { return stage })
		if !hasState(err, stateDivisionByZero) {
			return failure(ctx, operation, indexUID.IndexID, err)
		}
		// Nothing was written, because of a split that cannot be replaced or because there is no index.
		refused, err := s.irreplaceable(ctx, kind, indexUID, splits)
		switch {
		case err != nil:
			return err
		case len(refused) > 0:
			return metastore.FailedPrecondition(metastore.SplitsEntity(refused), "the splits exist and are not staged, or belong to another index")
		case attempt == maxAttempts:
			return metastore.Unavailable(nil, "%s: they keep changing", operation)
		}
		// It was removed in between.
		if err := pause(ctx, attempt); err != nil {
			return failure(ctx, operation, indexUID.IndexID, err)
		}
	}
}

// irreplaceable returns the ids of the splits that staging cannot replace, in the order given. Without the index it fails.
func (s *Store) irreplaceable(ctx context.Context, kind metastore.ParquetKind, indexUID metastore.IndexUID, splits []metastore.ParquetSplitMetadata) ([]string, error) {
	var indexExists bool
	var found map[string]bool
	uid := indexUID.String()
	ids := textArrayOf(len(splits), func(i int) string { return splits[i].SplitID })
	err := s.read(ctx, "reading the states of Parquet splits", func() []query {
		indexExists, found = false, map[string]bool{}
		return []query{{sql: parquetTables[kind].states, args: [][]byte{textArgument(uid), ids}, row: func(row columns) error {
			if row[0] == nil {
				indexExists = true
				return nil
			}
			state, err := row.state(1)
			if state != metastore.Staged || row.text(2) != uid {
				found[row.text(0)] = true
			}
			return err
		}}}
	})
	switch {
	case err != nil:
		return nil, err
	case !indexExists:
		return nil, metastore.NotFound(metastore.IndexEntity(indexUID.IndexID))
	}
	var refused []string
	for i := range splits {
		if id := splits[i].SplitID; found[id] {
			refused = append(refused, id)
			delete(found, id)
		}
	}
	return refused, nil
}

// stageParquetArguments are the index UID, then one array for each column.
func stageParquetArguments(indexUID metastore.IndexUID, splits []*metastore.ParquetSplitMetadata) [][]byte {
	n := len(splits)
	texts := func(at func(m *metastore.ParquetSplitMetadata) string) []byte {
		values := make([]string, n)
		for i, split := range splits {
			values[i] = at(split)
		}
		return textArrayArgument(values)
	}
	numbers := func(at func(m *metastore.ParquetSplitMetadata) uint64) []byte {
		return int8ArrayOf(n, func(i int) (int64, bool) { return int64(at(splits[i])), true })
	}
	set := func(texts []string) string { return string(appendArrayLiteral(nil, texts)) }
	args := [][]byte{
		textArgument(indexUID.String()),
		texts(func(m *metastore.ParquetSplitMetadata) string { return m.SplitID }),
		numbers(func(m *metastore.ParquetSplitMetadata) uint64 { return m.TimeStart }),
		numbers(func(m *metastore.ParquetSplitMetadata) uint64 { return m.TimeEnd }),
		int8ArrayOf(n, func(i int) (int64, bool) { return splits[i].Window.Value.Start, splits[i].Window.Set }),
		numbers(func(m *metastore.ParquetSplitMetadata) uint64 { return uint64(m.Window.Value.Duration) }),
		texts(func(m *metastore.ParquetSplitMetadata) string { return set(m.MetricNames) }),
	}
	for _, key := range metastore.ParquetTagKeys() {
		values := make([]metastore.Optional[string], n)
		for i, split := range splits {
			if tags, ok := split.LowCardinalityTags[key]; ok {
				values[i] = metastore.Some(set(tags))
			}
		}
		args = append(args, optionalTextArrayOf(n, func(i int) (string, bool) { return values[i].Value, values[i].Set }))
	}
	rowKeys := make([]string, n)
	for i, split := range splits {
		rowKeys[i] = hex.EncodeToString(split.RowKeys)
	}
	return append(args,
		texts(func(m *metastore.ParquetSplitMetadata) string { return set(m.HighCardinalityTagKeys) }),
		numbers(func(m *metastore.ParquetSplitMetadata) uint64 { return m.NumRows }),
		numbers(func(m *metastore.ParquetSplitMetadata) uint64 { return m.SizeBytes }),
		numbers(func(m *metastore.ParquetSplitMetadata) uint64 { return uint64(m.NumMergeOps) }),
		texts(func(m *metastore.ParquetSplitMetadata) string { return m.SortFields }),
		optionalTextArrayOf(n, func(i int) (string, bool) { return rowKeys[i], splits[i].RowKeys != nil }),
		texts((*metastore.ParquetSplitMetadata).ZonemapRegexesJSON),
		timestampArrayOf(n, func(i int) int64 {
			seconds, _ := splits[i].MaturityTimestamp() // its range was checked
			return seconds
		}),
		texts((*metastore.ParquetSplitMetadata).Document),
	)
}
