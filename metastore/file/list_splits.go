package file

import (
	"context"
	"math"
	"slices"

	"holdfast/metastore"
)

// contextCheckInterval is how many splits are looked at between two looks at the context.
const contextCheckInterval = 1024

// ListSplits implements metastore.SplitStore. It holds no lock: the states that it goes through do not
// change.
func (s *Store) ListSplits(ctx context.Context, query *metastore.ListSplitsQuery, visit func(*metastore.SplitRow) error) error {
	states, err := s.statesForQuery(ctx, query)
	if err != nil {
		return err
	}
	offset, limit := uint64(0), uint64(math.MaxUint64)
	if query.Offset.Set {
		offset = query.Offset.Value
	}
	if query.Limit.Set {
		limit = query.Limit.Value
	}
	if limit == 0 {
		return nil
	}
	var row metastore.SplitRow
	var document []byte
	deliver := func(_ metastore.IndexUID, split *splitRecord) (more bool, err error) {
		if offset > 0 {
			offset--
			return true, nil
		}
		row, document = split.row(document)
		limit--
		return limit > 0, visit(&row)
	}
	if query.SortBy == metastore.SortByNone || query.SortBy == metastore.SortByIndexUID {
		return scanSplits(ctx, states, query, deliver)
	}
	keep := uint64(math.MaxUint64)
	if limit < keep-offset {
		keep = offset + limit
	}
	sorted := newSorter(query, keep)
	if err := scanSplits(ctx, states, query, sorted.add); err != nil {
		return err
	}
	for i, item := range sorted.sort() {
		if i%contextCheckInterval == 0 && ctx.Err() != nil {
			return metastore.Timeout(ctx.Err(), "listing splits")
		}
		if more, err := deliver(item.uid, item.split); err != nil || !more {
			return err
		}
	}
	return nil
}

// statesForQuery returns the states of the indexes that a query names, each once, in the order of
// their UIDs.
func (s *Store) statesForQuery(ctx context.Context, query *metastore.ListSplitsQuery) ([]*indexState, error) {
	if query.AllIndexes {
		return s.indexes(ctx, nil)
	}
	uids := slices.Clone(query.IndexUIDs)
	slices.SortFunc(uids, metastore.IndexUID.Compare)
	uids = slices.Compact(uids)
	ids := make([]string, len(uids))
	for i, uid := range uids {
		ids[i] = uid.IndexID
	}
	states, err := s.statesOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	existing := states[:0]
	for i, state := range states {
		if state.index != nil && state.index.IndexUID == uids[i] {
			existing = append(existing, state)
		}
	}
	return existing, nil
}

// scanSplits visits the splits that match, index by index in the given order, by ascending id.
func scanSplits(ctx context.Context, states []*indexState, query *metastore.ListSplitsQuery, visit func(metastore.IndexUID, *splitRecord) (more bool, err error)) error {
	matches := query.Matcher()
	var described metastore.Split
	looked := 0
	for _, state := range states {
		uid := state.index.IndexUID
		from := ""
		if query.After.Set {
			switch after := query.After.Value; uid.Compare(after.IndexUID) {
			case -1:
				continue
			case 0:
				from = after.SplitID
			}
		}
		var err error
		more := true
		each := func(split *splitRecord) bool {
			if looked++; looked%contextCheckInterval == 0 && ctx.Err() != nil {
				err = metastore.Timeout(ctx.Err(), "listing splits")
				return false
			}
			split.describe(&described, query.Tags != nil)
			if matches(uid, &described) {
				more, err = visit(uid, split)
			}
			return more && err == nil
		}
		if len(query.IncludedSplitIDs) > 0 {
			state.splits.pick(query.IncludedSplitIDs, each)
		} else {
			state.splits.ascend(from, each)
		}
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// pick visits the splits with these ids that exist, each once, by ascending id.
func (s *splitSet) pick(ids []string, visit func(*splitRecord) bool) {
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		if split := s.get(id); split != nil && !visit(split) {
			return
		}
	}
}
