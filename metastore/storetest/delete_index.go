package storetest

import (
	"strconv"
	"sync"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// deleteIndexCases are about DeleteIndex.
func deleteIndexCases() []testCase {
	return []testCase{
		{"I-35 and I-36 deleting an unknown index gives NotFound of the index, each time", func(b *bundle) {
			unknown := b.unknownIndex()
			for range 2 {
				b.wantNotFoundIndex(b.store.DeleteIndex(b.ctx, unknown), unknown)
			}
		}},
		{"I-37 and I-38 a deleted index does not exist and its id can be used again", func(b *bundle) {
			uid := b.index("a")
			b.deleteIndex(uid)
			if b.exists(uid.IndexID) {
				b.Error("the index exists")
			}
			if again := b.createIndex(uid.IndexID); again.Incarnation == uid.Incarnation {
				b.Error("the new index has the incarnation of the old one")
			}
		}},
		{"deleting an index again gives NotFound of the index", func(b *bundle) {
			uid := b.index("a")
			b.deleteIndex(uid)
			b.wantNotFoundIndex(b.store.DeleteIndex(b.ctx, uid), uid)
		}},
		{"I-39 a split that carries the old UID is staged in the new incarnation", func(b *bundle) {
			uid := b.index("a")
			b.deleteIndex(uid)
			again := b.createIndex(uid.IndexID)
			b.stage(again, newSplit("s1", func(s *metastore.SplitMetadata) { s.IndexUID = uid }))
			b.wantStates(again, map[string]metastore.SplitState{"s1": metastore.Staged})
		}},
		{"I-40 an index whose splits were removed is deleted", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.mark(uid, "staged", "published")
			b.delete(uid, "staged", "published", "marked")
			b.deleteIndex(uid)
		}},
		{"I-128 an index with delete tasks is deleted with them", func(b *bundle) {
			uid := b.index("a")
			b.createTask(metastore.DeleteQuery{IndexUID: uid, QueryAST: "q"})
			b.deleteIndex(uid)
			b.wantTasks(uid, 0)
			b.wantTasks(b.createIndex(uid.IndexID), 0)
		}},
		{"I-136 ten indexes are listed while they are deleted", func(b *bundle) {
			var uids []metastore.IndexUID
			for i := range 10 {
				uids = append(uids, b.index(strconv.Itoa(i)))
			}
			patterns := b.patterns(b.prefix + "*")
			var wait sync.WaitGroup
			for _, uid := range uids {
				wait.Go(func() {
					if err := b.store.DeleteIndex(b.ctx, uid); err != nil {
						b.Errorf("delete: %v", err)
					}
				})
				wait.Go(func() {
					if _, err := b.store.ListIndexesMetadata(b.ctx, patterns); err != nil {
						b.Errorf("list: %v", err)
					}
				})
			}
			wait.Wait()
			if left, err := b.store.ListIndexesMetadata(b.ctx, patterns); err != nil || len(left) != 0 {
				b.Errorf("%d indexes are left, %v", len(left), err)
			}
		}},
		{"an index with splits in every state is deleted with them", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.deleteIndex(uid)
			b.wantStates(uid, nil)
			b.wantStates(b.createIndex(uid.IndexID), nil)
		}},
		{"I-126 an index with sources and shards is deleted with them", func(b *bundle) {
			created, err := b.store.CreateIndex(b.ctx, metastore.CreateIndexRequest{
				Config: b.configOf(b.indexID("a")), Sources: []*indexconfig.SourceConfig{b.sourceOf(cliSource), b.sourceOf(ingestSource)},
			})
			if err != nil {
				b.Fatalf("create: %v", err)
			}
			b.openShards(newOpenShard(created.IndexUID, "1", withToken("t")), newOpenShard(created.IndexUID, "1", ofSource("_ingest-cli-source")))
			b.publishShard(created.IndexUID, "1", "t", "", at(5))
			b.deleteIndex(created.IndexUID)
			b.wantShards(b.shards(created.IndexUID))
			again := b.metadata(b.createIndex(created.IndexUID.IndexID))
			b.wantShards(b.shards(again.IndexUID))
			if len(again.Sources) != 0 || len(again.Checkpoint) != 0 {
				b.Errorf("the new incarnation has sources or checkpoints of the old one: %s", document(again))
			}
		}},
		{"canon H1 another incarnation gives NotFound of the index and deletes nothing", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			for _, other := range []metastore.IndexUID{otherIncarnation(uid), {IndexID: uid.IndexID}} {
				b.wantNotFoundIndex(b.store.DeleteIndex(b.ctx, other), uid)
			}
			if got := len(b.states(uid)); got != 3 {
				b.Errorf("the index has %d splits, want 3", got)
			}
		}},
		{"canon H1 the UID of a former incarnation does not delete the new one", func(b *bundle) {
			uid := b.index("a")
			b.deleteIndex(uid)
			again := b.createIndex(uid.IndexID)
			b.wantNotFoundIndex(b.store.DeleteIndex(b.ctx, uid), uid)
			b.metadata(again)
		}},
		{"every call with the UID of a deleted index gives NotFound of the index", func(b *bundle) {
			uid := b.index("a")
			b.deleteIndex(uid)
			b.createIndex(uid.IndexID)
			_, err := b.store.IndexMetadata(b.ctx, byUID(uid))
			b.wantNotFoundIndex(err, uid)
			_, err = b.store.UpdateIndex(b.ctx, uid, b.update())
			b.wantNotFoundIndex(err, uid)
			b.wantNotFoundIndex(b.tryStage(uid, newSplit("s")), uid)
			b.wantNotFoundIndex(b.tryPublish(uid, "s"), uid)
			b.wantNotFoundIndex(b.tryMark(uid, "s"), uid)
			b.wantNotFoundIndex(b.tryDelete(uid, "s"), uid)
		}},
		{"other indexes stay when one is deleted", func(b *bundle) {
			uid, longer := b.index("a"), b.index("a-b")
			b.lifeCycle(longer)
			b.deleteIndex(uid)
			if got := len(b.states(longer)); got != 3 {
				b.Errorf("the other index has %d splits, want 3", got)
			}
		}},
		{"an index is created, filled and deleted many times under one id", func(b *bundle) {
			id := b.indexID("a")
			for range 10 {
				uid := b.createIndex(id)
				b.wantStates(uid, nil)
				b.lifeCycle(uid)
				b.deleteIndex(uid)
			}
		}},
	}
}
