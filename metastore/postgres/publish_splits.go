package postgres

import (
	"context"
	"errors"

	"holdfast/metastore"
)

// PublishSplits implements metastore.SplitStore.
func (s *Store) PublishSplits(ctx context.Context, request metastore.PublishSplitsRequest) error {
	p := s.newPublication(request)
	if request.Delta != nil {
		if err := request.Delta.Validate(); err != nil {
			return err
		}
		return s.publishDelta(ctx, p)
	}
	return s.publishAtOnce(ctx, p)
}

// publishAtOnce makes a publish without delta in one round trip.
func (s *Store) publishAtOnce(ctx context.Context, p *publication) error {
	indexID, all, staged := p.indexUID.IndexID, p.all, p.staged()
	if len(all) == 1 && len(staged) == 1 && isStorable(staged[0]) {
		err := s.publishes.make(ctx, s, p.indexUID, &splitCall{id: staged[0]})
		if errors.Is(err, errNotStaged) && s.record != nil {
			// Another transaction with a record is needed only if the split is staged by now.
			err = s.publishRefusal(ctx, p)
		}
		if !errors.Is(err, errNotStaged) {
			return err
		}
		// What follows finds out why not, or does it if the reason is gone by then.
	}
	var indexExists int64
	var states map[string]metastore.SplitState
	return s.mutateIf(ctx, publishOperation, indexID, func() []query {
		states = make(map[string]metastore.SplitState, len(all))
		uid := textArgument(p.indexUID.String())
		queries := []query{{sql: lockIndexSQL, args: [][]byte{uid}, affected: &indexExists}}
		if len(all) == 0 {
			return queries
		}
		return append(queries, query{
			sql:  publishSplitsSQL,
			args: [][]byte{uid, searchArgument(all), searchArgument(staged)},
			row: func(row columns) error {
				state, err := row.state(1)
				states[row.text(0)] = state
				return err
			},
		})
	}, func() error {
		if indexExists == 0 {
			return metastore.NotFound(metastore.IndexEntity(indexID))
		}
		return checkPublish(all, p.numStaged, states)
	})
}

var errNotStaged = errors.New("the split is not staged")

// publishCalls makes calls that publish one split each, without a checkpoint delta.
func publishCalls() *splitCalls {
	return &splitCalls{
		operation: publishOperation,
		apart: func(s *Store, ctx context.Context, uid metastore.IndexUID, call *splitCall) error {
			return s.publishSplit(ctx, uid, call.id)
		},
		together: func(uid metastore.IndexUID, calls []*splitCall) []query {
			args := [][]byte{textArgument(uid.String()), textArrayOf(len(calls), func(i int) string { return calls[i].id })}
			return []query{{sql: lockIndexSQL, args: args[:1]}, {sql: publishStagedSplitsSQL, args: args}}
		},
	}
}

// publishSplit publishes one split in one round trip, or fails with errNotStaged.
func (s *Store) publishSplit(ctx context.Context, indexUID metastore.IndexUID, id string) error {
	args := [][]byte{textArgument(indexUID.String()), textArgument(id)}
	if s.record != nil {
		err := s.write(ctx, publishOperation, func() []query { return []query{{sql: publishSplitOrFailSQL, args: args}} })
		if hasState(err, stateDivisionByZero) {
			return errNotStaged
		}
		return failure(ctx, publishOperation, indexUID.IndexID, err)
	}
	var changed int64
	return s.mutateIf(ctx, publishOperation, indexUID.IndexID, func() []query {
		return []query{{sql: publishSplitSQL, args: args, affected: &changed}}
	}, func() error {
		if changed == 0 {
			return errNotStaged
		}
		return nil
	})
}

// publishRefusal tells from the states now why a publish does not take place, or returns errNotStaged if it could.
func (s *Store) publishRefusal(ctx context.Context, p *publication) error {
	states, indexExists, err := s.splitStates(ctx, p.indexUID, p.all)
	if err == nil && !indexExists {
		err = metastore.NotFound(metastore.IndexEntity(p.indexUID.IndexID))
	}
	if err == nil {
		err = checkPublish(p.all, p.numStaged, states)
	}
	if err == nil {
		err = errNotStaged
	}
	return err
}

// checkPublish tells from the states before whether the splits were published. The first numStaged of all are to
// be published, the others to be marked.
func checkPublish(all []string, numStaged int, states map[string]metastore.SplitState) error {
	var unknown, notStaged, notPublished []string
	for i, id := range all {
		state, known := states[id]
		switch {
		case !known:
			unknown = append(unknown, id)
		case i < numStaged && state != metastore.Staged:
			notStaged = append(notStaged, id)
		case i >= numStaged && state != metastore.Published:
			notPublished = append(notPublished, id)
		}
	}
	switch {
	case len(unknown) > 0:
		return metastore.NotFound(metastore.SplitsEntity(metastore.UniqueSplitIDs(unknown)))
	case len(notStaged) > 0:
		return metastore.FailedPrecondition(metastore.SplitsEntity(notStaged), "the splits to publish are not staged")
	case len(notPublished) > 0:
		return metastore.FailedPrecondition(metastore.SplitsEntity(notPublished), "the splits to replace are not published and cannot be marked for deletion")
	}
	return nil
}
