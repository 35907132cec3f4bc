package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"

	"holdfast/metastore"
)

// splitStorm has all calls that lock splits.
func splitStorm() stormGroup {
	stage := stageStormSplits("stage", false)
	publish := stormCall{name: "publish", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		return s.client().PublishSplits(ctx, someToPublish(uid, s.splits, random))
	}}
	publishDelta := stormCall{name: "publish with a delta", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		request := someToPublish(uid, s.splits, random)
		request.Delta = &metastore.CheckpointDelta{SourceID: "void", Partitions: map[string]metastore.PartitionDelta{fmt.Sprint(random.Int()): {To: "1"}}}
		return s.client().PublishSplits(ctx, request)
	}}
	mark := stormCall{name: "mark", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		return s.client().MarkSplitsForDeletion(ctx, uid, some(s.splits, random))
	}}
	remove := stormCall{name: "delete", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		return s.client().DeleteSplits(ctx, uid, some(s.splits, random))
	}}
	opstamp := stormCall{name: "update opstamp", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		return s.client().UpdateSplitsDeleteOpstamp(ctx, uid, some(s.splits, random), random.Uint64N(1000))
	}}
	renew := stormCall{name: "renew", run: func(ctx context.Context, s *storm, uid metastore.IndexUID, _ *rand.Rand) error {
		return inTurn(
			func() error { return s.client().MarkSplitsForDeletion(ctx, uid, s.splits) },
			func() error { return s.client().DeleteSplits(ctx, uid, s.splits) },
			func() error {
				_, err := s.client().StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: splits(s.splits...)})
				return err
			})
	}}
	return stormGroup{
		name:   "splits",
		calls:  []stormCall{stage, stageStormSplits("create-only stage", true), publish, publishDelta, mark, remove, opstamp, deleteAndCreateIndex(renew)},
		refill: []stormCall{renew, publish},
	}
}

func stageStormSplits(name string, createOnly bool) stormCall {
	return stormCall{name: name, run: func(ctx context.Context, s *storm, uid metastore.IndexUID, random *rand.Rand) error {
		_, err := s.client().StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: splits(some(s.splits, random)...), CreateOnly: createOnly})
		return err
	}}
}
