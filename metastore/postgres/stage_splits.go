package postgres

import (
	"context"

	"holdfast/metastore"
)

// StageSplits implements metastore.SplitStore.
func (s *Store) StageSplits(ctx context.Context, request metastore.StageSplitsRequest) (metastore.StageSplitsResult, error) {
	if err := s.refuseReadOnly(stageOperation); err != nil {
		return metastore.StageSplitsResult{}, err
	}
	splits, err := metastore.PrepareStage(request)
	if err != nil {
		return metastore.StageSplitsResult{}, err
	}
	if request.CreateOnly {
		return s.stageCreateOnly(ctx, request.IndexUID, splits)
	}
	if len(splits) == 0 {
		return metastore.StageSplitsResult{}, nil
	}
	if len(splits) == 1 {
		split := &splits[0]
		err = s.stages.make(ctx, s, request.IndexUID, &splitCall{id: split.SplitID, staged: split, document: len(split.Document())})
	} else {
		err = s.stageUpsert(ctx, request.IndexUID, metastore.UniqueSplitIDs(splitIDs(request.Splits)), stageSplits(request.IndexUID, splits))
	}
	if err != nil {
		return metastore.StageSplitsResult{}, err
	}
	return metastore.StageSplitsResult{Mutation: metastore.MutationYes}, nil
}

const stageOperation = "staging splits"

// stageCalls makes calls that stage one split each.
func stageCalls() *splitCalls {
	return &splitCalls{
		operation: stageOperation,
		apart: func(s *Store, ctx context.Context, uid metastore.IndexUID, call *splitCall) error {
			// The cheaper statement to plan.
			stage := query{sql: stageSplitSQL, args: stageOneArguments(uid, call.staged)}
			return s.stageUpsert(ctx, uid, []string{call.id}, stage)
		},
		together: func(uid metastore.IndexUID, calls []*splitCall) []query {
			splits := make([]metastore.SplitMetadata, len(calls))
			for i, call := range calls {
				splits[i] = *call.staged
			}
			return []query{stageSplits(uid, splits)}
		},
	}
}

// stageSplits returns the statement that stages splits, which are sorted by their ids, all or none.
func stageSplits(uid metastore.IndexUID, splits []metastore.SplitMetadata) query {
	return query{sql: stageSplitsSQL, args: stageArguments(uid, splits)}
}

// stageUpsert runs a statement that stages all the splits or none. The ids are each there once, in the order of the request.
func (s *Store) stageUpsert(ctx context.Context, uid metastore.IndexUID, ids []string, stage query) error {
	for attempt := 1; ; attempt++ {
		err := s.write(ctx, stageOperation, func() []query { return []query{stage} })
		if !hasState(err, stateDivisionByZero, stateForeignKeyViolation) {
			return failure(ctx, stageOperation, uid.IndexID, err)
		}
		// Nothing was written, because of a split that is not staged or because there is no index.
		states, indexExists, err := s.splitStates(ctx, uid, ids)
		switch {
		case err != nil:
			return err
		case !indexExists:
			return metastore.NotFound(metastore.IndexEntity(uid.IndexID))
		}
		var refused []string
		for _, id := range ids {
			if state, exists := states[id]; exists && state != metastore.Staged {
				refused = append(refused, id)
			}
		}
		switch {
		case len(refused) > 0:
			return metastore.FailedPrecondition(metastore.SplitsEntity(refused), "the splits exist and are not staged")
		case attempt == maxAttempts:
			return metastore.Unavailable(nil, "%s: they keep changing", stageOperation)
		}
		// It was removed in between.
		if err := pause(ctx, attempt); err != nil {
			return failure(ctx, stageOperation, uid.IndexID, err)
		}
	}
}

// stageCreateOnly inserts what is absent and reports what is there. It looks first, by the ids alone: a call
// that repeats another ends there, without a lock and without having sent the documents.
func (s *Store) stageCreateOnly(ctx context.Context, indexUID metastore.IndexUID, splits []metastore.SplitMetadata) (metastore.StageSplitsResult, error) {
	present, indexExists, err := s.splitStates(ctx, indexUID, splitIDs(splits))
	if err != nil {
		return metastore.StageSplitsResult{}, err
	}
	if !indexExists {
		return metastore.StageSplitsResult{}, s.unlessExecuted(ctx, metastore.NotFound(metastore.IndexEntity(indexUID.IndexID)))
	}
	inserted, err := s.insertAbsent(ctx, indexUID, splits, present)
	if err != nil {
		return metastore.StageSplitsResult{}, err
	}
	if err := s.addUnseen(ctx, indexUID, splits, inserted, present); err != nil {
		return metastore.StageSplitsResult{}, err
	}
	result := metastore.StageSplitsResult{Mutation: len(inserted) > 0}
	for i := range splits {
		id := splits[i].SplitID
		if inserted[id] {
			result.Staged = append(result.Staged, id)
		} else {
			result.Skipped = append(result.Skipped, metastore.SkippedSplit{SplitID: id, State: present[id]})
		}
	}
	return result, nil
}

// insertAbsent inserts the splits that are not among those present, and returns the ids of those that it inserted.
func (s *Store) insertAbsent(ctx context.Context, indexUID metastore.IndexUID, splits []metastore.SplitMetadata, present map[string]metastore.SplitState) (inserted map[string]bool, err error) {
	absent := make([]metastore.SplitMetadata, 0, len(splits)-min(len(present), len(splits)))
	for i := range splits {
		if _, exists := present[splits[i].SplitID]; !exists {
			absent = append(absent, splits[i])
		}
	}
	if len(absent) == 0 && s.record == nil {
		return nil, nil
	}
	args := stageArguments(indexUID, absent)
	insert := func() []query {
		inserted = make(map[string]bool, len(absent))
		if len(absent) == 0 {
			return nil
		}
		return []query{{sql: createOnlySQL, args: args, row: func(row columns) error {
			inserted[row.text(0)] = true
			return nil
		}}}
	}
	const operation = "staging splits create-only"
	if s.record == nil {
		err = s.mutate(ctx, operation, indexUID.IndexID, insert)
		return inserted, err
	}
	// The record says that the call was executed, so the index must exist, which the statement alone does not tell.
	var indexExists int64
	err = s.mutateIf(ctx, operation, indexUID.IndexID, func() []query {
		lock := query{sql: lockIndexSQL, args: args[:1], affected: &indexExists}
		return append([]query{lock}, insert()...)
	}, func() error {
		if indexExists == 0 {
			return metastore.NotFound(metastore.IndexEntity(indexUID.IndexID))
		}
		return nil
	})
	return inserted, err
}

// addUnseen adds to present the splits that another call inserted after we looked.
func (s *Store) addUnseen(ctx context.Context, indexUID metastore.IndexUID, splits []metastore.SplitMetadata, inserted map[string]bool, present map[string]metastore.SplitState) error {
	var unseen []string
	for i := range splits {
		id := splits[i].SplitID
		if _, known := present[id]; !known && !inserted[id] {
			unseen = append(unseen, id)
		}
	}
	if len(unseen) == 0 {
		return nil
	}
	states, indexExists, err := s.splitStates(ctx, indexUID, unseen)
	if err != nil {
		return err
	}
	if !indexExists {
		// Deleted while the statement waited for its row.
		return metastore.NotFound(metastore.IndexEntity(indexUID.IndexID))
	}
	for _, id := range unseen {
		state, exists := states[id]
		if !exists {
			// It was there, and has been removed since; only marked splits are.
			state = metastore.MarkedForDeletion
		}
		present[id] = state
	}
	return nil
}

// splitStates reads the states of the splits that exist, and whether the index does.
func (s *Store) splitStates(ctx context.Context, indexUID metastore.IndexUID, ids []string) (states map[string]metastore.SplitState, indexExists bool, err error) {
	err = s.read(ctx, "reading the states of splits", func() []query {
		states = make(map[string]metastore.SplitState, len(ids))
		indexExists = false
		return []query{{
			sql:  splitStatesSQL,
			args: [][]byte{textArgument(indexUID.String()), textArrayArgument(ids)},
			row: func(row columns) error {
				if row[0] == nil {
					indexExists = true
					return nil
				}
				state, err := row.state(1)
				states[row.text(0)] = state
				return err
			},
		}}
	})
	return states, indexExists, err
}

func splitIDs(splits []metastore.SplitMetadata) []string {
	ids := make([]string, len(splits))
	for i := range splits {
		ids[i] = splits[i].SplitID
	}
	return ids
}

// stageOneArguments are those of the statement that stages one split.
func stageOneArguments(indexUID metastore.IndexUID, split *metastore.SplitMetadata) [][]byte {
	var start, end []byte
	if split.TimeRange.Set {
		start, end = int8Argument(split.TimeRange.Value.Start), int8Argument(split.TimeRange.Value.End)
	}
	seconds, _ := split.MaturityTimestamp() // its range was checked
	return [][]byte{
		textArgument(indexUID.String()),
		textArgument(split.SplitID),
		start,
		end,
		appendArrayLiteral(nil, split.Tags),
		textArgument(split.Document()),
		int8Argument(int64(split.DeleteOpstamp)),
		timestampArgument(seconds),
		textArgument(split.NodeID),
	}
}

// stageArguments are those of the statements that stage several splits: the index UID, then one array for each column.
func stageArguments(indexUID metastore.IndexUID, splits []metastore.SplitMetadata) [][]byte {
	n := len(splits)
	tags := make([]string, n)
	documents := make([]string, n)
	var literal []byte
	for i := range splits {
		literal = appendArrayLiteral(literal[:0], splits[i].Tags)
		tags[i] = string(literal)
		documents[i] = splits[i].Document()
	}
	return [][]byte{
		textArgument(indexUID.String()),
		textArrayOf(n, func(i int) string { return splits[i].SplitID }),
		int8ArrayOf(n, func(i int) (int64, bool) { return splits[i].TimeRange.Value.Start, splits[i].TimeRange.Set }),
		int8ArrayOf(n, func(i int) (int64, bool) { return splits[i].TimeRange.Value.End, splits[i].TimeRange.Set }),
		textArrayArgument(tags),
		textArrayArgument(documents),
		int8ArrayOf(n, func(i int) (int64, bool) { return int64(splits[i].DeleteOpstamp), true }),
		timestampArrayOf(n, func(i int) int64 {
			seconds, _ := splits[i].MaturityTimestamp() // its range was checked
			return seconds
		}),
		textArrayOf(n, func(i int) string { return splits[i].NodeID }),
	}
}
