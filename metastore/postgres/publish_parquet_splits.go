package postgres

import (
	"context"

	"holdfast/metastore"
)

// PublishParquetSplits implements metastore.ParquetSplitStore.
func (s *Store) PublishParquetSplits(ctx context.Context, kind metastore.ParquetKind, request metastore.PublishSplitsRequest) error {
	p := s.newPublication(request)
	if request.Delta == nil {
		return s.publishParquet(ctx, kind, p)
	}
	if err := request.Delta.Validate(); err != nil {
		return err
	}
	return s.publishParquetWithDelta(ctx, kind, p)
}

// publishParquet makes a publish without delta in one round trip.
func (s *Store) publishParquet(ctx context.Context, kind metastore.ParquetKind, p *publication) error {
	indexID := p.indexUID.IndexID
	var indexExists int64
	var states map[string]metastore.SplitState
	return s.mutateIf(ctx, publishOperation, indexID, func() []query {
		states = map[string]metastore.SplitState{}
		lock := query{sql: lockIndexSQL, args: [][]byte{textArgument(p.indexUID.String())}, affected: &indexExists}
		return append([]query{lock}, p.parquetQueries(kind, states)...)
	}, func() error {
		if indexExists == 0 {
			return metastore.NotFound(metastore.IndexEntity(indexID))
		}
		return checkPublish(p.all, p.numStaged, states)
	})
}

// publishParquetWithDelta changes the splits at once, if they are in the right states, and undoes that if the delta is
// refused. The delta is checked first all the same.
func (s *Store) publishParquetWithDelta(ctx context.Context, kind metastore.ParquetKind, p *publication) error {
	progress := newProgress(p.indexUID, p.deltaOfPublish)
	var states map[string]metastore.SplitState
	return s.changeLocked(ctx, publishOperation, p.indexUID.IndexID,
		func() []query {
			states = map[string]metastore.SplitState{}
			return append(progress.lock(), p.parquetQueries(kind, states)...)
		},
		func() (decision, error) {
			advance, err := progress.check(p.deltaOfPublish)
			if err == nil {
				err = checkPublish(p.all, p.numStaged, states)
			}
			if err != nil {
				return decision{}, err
			}
			advance()
			return decision{writes: progress.write(), commit: len(p.all) > 0}, nil
		})
}

// parquetQueries change the splits if all are in the right state, and fill in what state those that exist had.
func (p *publication) parquetQueries(kind metastore.ParquetKind, states map[string]metastore.SplitState) []query {
	if len(p.all) == 0 {
		return nil
	}
	return []query{{
		sql:  parquetTables[kind].publish,
		args: [][]byte{textArgument(p.indexUID.String()), searchArgument(p.all), searchArgument(p.staged())},
		row: func(row columns) error {
			state, err := row.state(1)
			states[row.text(0)] = state
			return err
		},
	}}
}
