package postgres

import (
	"context"
	"math/rand/v2"

	"holdfast/metastore"
)

// parquetStorm has all calls that lock Parquet splits. The ids of a kind are unique over all indexes, so the calls on
// another index meet the same rows.
func parquetStorm() stormGroup {
	anyKind := func(random *rand.Rand) metastore.ParquetKind {
		return metastore.ParquetKind(random.IntN(len(parquetTables)))
	}

	stage := stormCall{name: "stage", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		return s.client().StageParquetSplits(ctx, anyKind(random), uid, parquetSplits(uid, some(s.splits, random)...))
	}}
	stageElsewhere := stormCall{name: "stage elsewhere", run: func(ctx context.Context, s *storm, _ metastore.IndexUID, random *rand.Rand) error {
		return s.client().StageParquetSplits(ctx, anyKind(random), s.elsewhere, parquetSplits(s.elsewhere, some(s.splits, random)...))
	}}
	publish := stormCall{name: "publish", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		return s.client().PublishParquetSplits(ctx, anyKind(random), someToPublish(uid, s.splits, random))
	}}
	mark := stormCall{name: "mark", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		return s.client().MarkParquetSplitsForDeletion(ctx, anyKind(random), uid, some(s.splits, random))
	}}
	remove := stormCall{name: "delete", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		return s.client().DeleteParquetSplits(ctx, anyKind(random), uid, some(s.splits, random))
	}}
	renew := stormCall{name: "renew", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		kind := anyKind(random)
		calls := []func() error{
			func() error { return s.client().MarkParquetSplitsForDeletion(ctx, kind, s.elsewhere, s.splits) },
			func() error { return s.client().DeleteParquetSplits(ctx, kind, s.elsewhere, s.splits) },
			func() error { return s.client().MarkParquetSplitsForDeletion(ctx, kind, uid, s.splits) },
			func() error { return s.client().DeleteParquetSplits(ctx, kind, uid, s.splits) },
		}
		// Each by itself: one that is staged elsewhere meanwhile would be in the way of all.
		for _, id := range s.splits {
			calls = append(calls, func() error { return s.client().StageParquetSplits(ctx, kind, uid, parquetSplits(uid, id)) })
		}
		return inTurn(calls...)
	}}
	return stormGroup{
		name:   "parquet splits",
		calls:  []stormCall{stage, stageElsewhere, publish, mark, remove, deleteAndCreateIndex(renew)},
		refill: []stormCall{renew, publish},
	}
}
