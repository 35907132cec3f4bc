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

	stage := stormCall{"stage", func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		return s.store.StageParquetSplits(ctx, anyKind(random), uid, parquetSplits(uid, some(s.splits, random)...))
	}}
	stageElsewhere := stormCall{"stage elsewhere", func(ctx context.Context, s *storm, _ metastore.IndexUID, random *rand.Rand) error {
		return s.store.StageParquetSplits(ctx, anyKind(random), s.elsewhere, parquetSplits(s.elsewhere, some(s.splits, random)...))
	}}
	publish := stormCall{"publish", func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		return s.store.PublishParquetSplits(ctx, anyKind(random), someToPublish(uid, s.splits, random))
	}}
	mark := stormCall{"mark", func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		return s.store.MarkParquetSplitsForDeletion(ctx, anyKind(random), uid, some(s.splits, random))
	}}
	remove := stormCall{"delete", func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		return s.store.DeleteParquetSplits(ctx, anyKind(random), uid, some(s.splits, random))
	}}
	return stormGroup{
		name:        "parquet splits",
		calls:       []stormCall{stage, stageElsewhere, publish, mark, remove, deleteAndCreateIndex()},
		refillOneIn: 4,
		refill:      []stormCall{mark, remove, stage, stage, publish},
	}
}
