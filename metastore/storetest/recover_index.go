package storetest

import (
	"errors"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// recoverIndexCases are about CreateIndex with an incarnation that is given.
func recoverIndexCases() []testCase {
	return []testCase{
		{"an index gets the given incarnation, and lives as any other", func(b *bundle) {
			uid := metastore.IndexUID{IndexID: b.indexID("a"), Incarnation: ulid.Make()}
			created := b.recover(uid, ingestSource)
			b.wantSameMetadata(b.metadata(uid), created)
			if created.IndexUID != uid || len(created.Sources) != 1 {
				b.Errorf("metadata is %s, want one of %s with a source", document(created), uid)
			}
			b.lifeCycle(uid)
			b.openShard(uid, "shard")
			b.deleteIndex(uid)
			if b.exists(uid.IndexID) {
				b.Error("the index was deleted and exists")
			}
		}},
		{"a nil incarnation gives InvalidArgument and creates nothing", func(b *bundle) {
			id := b.indexID("a")
			_, err := b.tryRecover(metastore.IndexUID{IndexID: id})
			b.wantKind(err, metastore.KindInvalidArgument)
			if b.exists(id) {
				b.Error("the index was created")
			}
		}},
		{"an index that exists gives AlreadyExists, whatever its incarnation, and nothing changes", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			before, splits := document(b.metadata(uid)), b.snapshot(uid)
			for _, again := range []metastore.IndexUID{uid, otherIncarnation(uid)} {
				_, err := b.tryRecover(again)
				b.wantError(err, metastore.KindAlreadyExists, metastore.IndexEntity(uid.IndexID))
			}
			if got := document(b.metadata(uid)); got != before {
				b.Errorf("metadata changed from %s to %s", before, got)
			}
			b.wantUnchanged(uid, splits)
		}},
		{"a repeated source id gives AlreadyExists of the source and creates nothing", func(b *bundle) {
			uid := metastore.IndexUID{IndexID: b.indexID("a"), Incarnation: ulid.Make()}
			_, err := b.tryRecover(uid, cliSource, cliSource)
			b.wantError(err, metastore.KindAlreadyExists, metastore.SourceEntity(uid.IndexID, "_ingest-cli-source"))
			if b.exists(uid.IndexID) {
				b.Error("the index was created")
			}
		}},
		{"nothing of a deleted index comes back with its incarnation", func(b *bundle) {
			uid := b.full("a")
			last := b.createTask(deleteQuery(uid))
			b.deleteIndex(uid)
			b.recover(uid, ingestSource)
			b.wantEmpty(uid)
			if next := b.createTask(deleteQuery(uid)); next.Opstamp <= last.Opstamp {
				b.Errorf("opstamp %d was given, and %d before the index was deleted", next.Opstamp, last.Opstamp)
			}
		}},
		{"nothing of a deleted index comes back with its incarnation after another one", func(b *bundle) {
			uid := b.full("a")
			b.deleteIndex(uid)
			other := b.full("a")
			b.deleteIndex(other)
			b.recover(uid, ingestSource)
			b.wantEmpty(uid)
			b.wantNotFoundIndex(b.tryStage(other, newSplit("s1")), other)
		}},
		{"the split and shard ids of a deleted index are free again under its incarnation", func(b *bundle) {
			uid := b.full("a")
			b.deleteIndex(uid)
			b.recover(uid, ingestSource)
			b.wantResult(b.createOnly(uid, newSplits("published", "staged")...), metastore.MutationYes, []string{"published", "staged"}, nil)
			b.publish(uid, "published")
			b.wantStates(uid, map[string]metastore.SplitState{"published": metastore.Published, "staged": metastore.Staged})
			if shard := b.openShard(uid, "shard"); shard.Position != metastore.Beginning {
				b.Errorf("the shard is at %s", shard.Position)
			}
		}},
		{"sixteen clients that recover the same index: one succeeds, the others get AlreadyExists", func(b *bundle) {
			uid := metastore.IndexUID{IndexID: b.indexID("a"), Incarnation: ulid.Make()}
			succeeded := 0
			for _, err := range b.concurrently(16, func(int) error {
				_, err := b.tryRecover(uid)
				return err
			}) {
				if err == nil {
					succeeded++
				} else if !errors.Is(err, metastore.AlreadyExists(metastore.IndexEntity(uid.IndexID))) {
					b.Errorf("a client got %v, want AlreadyExists", err)
				}
			}
			if succeeded != 1 {
				b.Errorf("%d clients succeeded, want one", succeeded)
			}
			b.metadata(uid)
		}},
	}
}

// recover creates an index with its incarnation and fails the case if that fails.
func (b *bundle) recover(uid metastore.IndexUID, sources ...string) *metastore.IndexMetadata {
	b.Helper()
	metadata, err := b.tryRecover(uid, sources...)
	if err != nil {
		b.Fatalf("create the index with incarnation %s: %v", uid.Incarnation, err)
	}
	return metadata
}

func (b *bundle) tryRecover(uid metastore.IndexUID, sources ...string) (*metastore.IndexMetadata, error) {
	b.Helper()
	var configs []*indexconfig.SourceConfig
	for _, text := range sources {
		configs = append(configs, b.sourceOf(text))
	}
	return b.store.CreateIndex(b.ctx, metastore.CreateIndexRequest{Config: b.configOf(uid.IndexID), Sources: configs, Incarnation: metastore.Some(uid.Incarnation)})
}

// full creates an index that has something of everything.
func (b *bundle) full(suffix string) metastore.IndexUID {
	b.Helper()
	uid := b.indexWithSources(suffix, ingestSource, voidSource)
	b.lifeCycle(uid)
	b.openShard(uid, "shard")
	b.createTask(deleteQuery(uid))
	for _, kind := range []metastore.ParquetKind{metastore.MetricsSplits, metastore.SketchSplits} {
		parquet := parquetBundle{b, kind}
		parquet.stage(uid, parquet.newSplit(uid, "s1"))
	}
	return uid
}

// wantEmpty checks that an index with the ingest source has nothing else.
func (b *bundle) wantEmpty(uid metastore.IndexUID) {
	b.Helper()
	b.wantStates(uid, nil)
	b.wantShards(b.shards(uid))
	b.wantTasks(uid, 0)
	b.wantSources(uid, ingestSource)
	for _, kind := range []metastore.ParquetKind{metastore.MetricsSplits, metastore.SketchSplits} {
		parquet := parquetBundle{b, kind}
		parquet.wantStates(uid, nil)
	}
	metadata := b.metadata(uid)
	for source, partitions := range metadata.Checkpoint {
		if source != ingestSourceID || len(partitions) > 0 {
			b.Errorf("checkpoint of %s is %v", source, partitions)
		}
	}
}
