package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// ListIndexStats implements metastore.IndexStore. The documents of the indexes are not read.
func (s *Store) ListIndexStats(ctx context.Context, patterns *indexconfig.IndexIDPatterns) ([]metastore.IndexStats, error) {
	uids, err := s.matchingIndexUIDs(ctx, patterns)
	if err != nil || len(uids) == 0 {
		return nil, err
	}
	var stats map[string]*metastore.IndexStats
	err = s.read(ctx, "counting splits", func() []query {
		stats = make(map[string]*metastore.IndexStats, len(uids))
		return []query{{sql: indexStatsSQL, args: [][]byte{textArrayArgument(uids)}, row: func(row columns) error {
			uid := row.text(0)
			if stats[uid] == nil {
				parsed, err := metastore.ParseIndexUID(uid)
				if err != nil {
					return fmt.Errorf("column index_uid: %w", err)
				}
				stats[uid] = &metastore.IndexStats{IndexUID: parsed}
			}
			return addStats(stats[uid], row)
		}}}
	})
	if err != nil {
		return nil, err
	}
	// In the order of the UIDs; one that is missing was deleted since they were read.
	listed := make([]metastore.IndexStats, 0, len(uids))
	for _, uid := range uids {
		if found := stats[uid]; found != nil {
			listed = append(listed, *found)
		}
	}
	return listed, nil
}

// addStats adds the row of one state, or of none if the index has no splits.
func addStats(stats *metastore.IndexStats, row columns) error {
	if row[1] == nil {
		return nil
	}
	state, err := row.state(1)
	if err != nil {
		return err
	}
	// The sum is a numeric: two huge splits exceed a bigint, and many would exceed even the answer's field.
	size, err := strconv.ParseUint(row.text(3), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("sum of split sizes: %w", err)
	}
	into := map[metastore.SplitState]*metastore.SplitStats{
		metastore.Staged:            &stats.Staged,
		metastore.Published:         &stats.Published,
		metastore.MarkedForDeletion: &stats.MarkedForDeletion,
	}[state]
	into.NumSplits += uint64(row.int8(2))
	into.TotalSizeBytes += size
	return nil
}

func (s *Store) matchingIndexUIDs(ctx context.Context, patterns *indexconfig.IndexIDPatterns) ([]string, error) {
	var uids []string
	err := s.read(ctx, "listing index ids", func() []query {
		uids = nil
		return []query{{sql: listIndexUIDsSQL, row: func(row columns) error {
			if patterns.Match(row.text(1)) {
				uids = append(uids, row.text(0))
			}
			return nil
		}}}
	})
	return uids, err
}
