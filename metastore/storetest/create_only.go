package storetest

import (
	"reflect"

	"holdfast/metastore"
)

// createOnlyCases are about what create-only staging inserts, skips, reports and refuses.
func createOnlyCases() []testCase {
	return []testCase{
		{"an absent split is inserted as upsert would insert it", func(b *bundle) {
			uid := b.index("a")
			split := newSplit("s1", timeRange(1, 2), tags("t:1"), opstamp(3), node("n"), immature(5000))
			b.wantResult(b.createOnly(uid, split), metastore.MutationYes, []string{"s1"}, nil)
			other := b.index("b")
			b.stage(other, split)
			got, want := b.split(uid, "s1"), b.split(other, "s1")
			if got.State != metastore.Staged || got.PublishTimestamp.Set || got.UpdateTimestamp == 0 {
				b.Errorf("split is %s, updated %d, published %v", got.State, got.UpdateTimestamp, got.PublishTimestamp)
			}
			for _, m := range []*metastore.SplitMetadata{&got.Metadata, &want.Metadata} {
				*m = m.WithIndexUID(uid)
				m.CreateTimestamp = 0
			}
			if !sameFields(got.Metadata, want.Metadata) {
				b.Errorf("create-only stored %+v, upsert %+v", got.Metadata, want.Metadata)
			}
		}},
		{"a Staged split is skipped with its state and keeps its document", func(b *bundle) {
			b.skips(metastore.Staged, "staged")
		}},
		{"a Published split is skipped with its state and stays Published", func(b *bundle) {
			b.skips(metastore.Published, "published")
		}},
		{"a split marked for deletion is skipped with its state and not brought back", func(b *bundle) {
			b.skips(metastore.MarkedForDeletion, "marked")
		}},
		{"a skipped marked split can still be deleted", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.createOnly(uid, newSplit("marked", node("recovery")))
			b.delete(uid, "marked")
			b.wantStates(uid, map[string]metastore.SplitState{"staged": metastore.Staged, "published": metastore.Published})
		}},
		{"publishing skipped Published and marked splits fails as it would without create-only", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.createOnly(uid, newSplits("published", "marked", "staged")...)
			b.wantFailedPreconditionSplits(b.tryPublish(uid, "published"), "published")
			b.wantFailedPreconditionSplits(b.tryPublish(uid, "marked"), "marked")
			b.publish(uid, "staged")
		}},
		{"a partly present batch inserts what is missing and reports both lists sorted by split id", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			result := b.createOnly(uid, newSplits("z-new", "staged", "a-new", "published", "m-new", "marked", "Z-new")...)
			b.wantResult(result, metastore.MutationYes, []string{"Z-new", "a-new", "m-new", "z-new"}, []metastore.SkippedSplit{
				{SplitID: "marked", State: metastore.MarkedForDeletion},
				{SplitID: "published", State: metastore.Published},
				{SplitID: "staged", State: metastore.Staged},
			})
			b.wantIDs(b.inState(uid, metastore.Staged), "Z-new", "a-new", "m-new", "staged", "z-new")
		}},
		{"a batch that is there already mutates nothing and reports every split", func(b *bundle) {
			uid := b.index("a")
			b.wantResult(b.createOnly(uid, newSplits("s2", "s1")...), metastore.MutationYes, []string{"s1", "s2"}, nil)
			b.wantResult(b.createOnly(uid, newSplits("s2", "s1")...), metastore.MutationNo, nil, []metastore.SkippedSplit{
				{SplitID: "s1", State: metastore.Staged}, {SplitID: "s2", State: metastore.Staged},
			})
		}},
		{"the result lists are sorted by the bytes of the ids", func(b *bundle) {
			uid := b.index("a")
			ids := []string{"é", "b", "_", "B", "a-b", "a", "0", "aa"}
			want := []string{"0", "B", "_", "a", "a-b", "aa", "b", "é"}
			b.wantResult(b.createOnly(uid, newSplits(ids...)...), metastore.MutationYes, want, nil)
			var skipped []metastore.SkippedSplit
			for _, id := range want {
				skipped = append(skipped, metastore.SkippedSplit{SplitID: id, State: metastore.Staged})
			}
			b.wantResult(b.createOnly(uid, newSplits(ids...)...), metastore.MutationNo, nil, skipped)
		}},
		{"a split named twice is inserted once, as named first", func(b *bundle) {
			uid := b.index("a")
			result := b.createOnly(uid, newSplit("s1", node("first")), newSplit("s2"), newSplit("s1", node("last")))
			b.wantResult(result, metastore.MutationYes, []string{"s1", "s2"}, nil)
			if got := b.split(uid, "s1").Metadata.NodeID; got != "first" {
				b.Errorf("node id is %q, want that of the first occurrence", got)
			}
		}},
		{"a present split named twice is skipped once", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			result := b.createOnly(uid, newSplits("published", "published")...)
			b.wantResult(result, metastore.MutationNo, nil, []metastore.SkippedSplit{{SplitID: "published", State: metastore.Published}})
		}},
		{"an empty list succeeds and mutates nothing", func(b *bundle) {
			b.wantResult(b.createOnly(b.index("a")), metastore.MutationNo, nil, nil)
		}},
		{"an empty list requires the index", func(b *bundle) {
			unknown := b.unknownIndex()
			_, err := b.tryCreateOnly(unknown)
			b.wantNotFoundIndex(err, unknown)
		}},
		{"an empty list requires the incarnation", func(b *bundle) {
			uid := b.index("a")
			_, err := b.tryCreateOnly(otherIncarnation(uid))
			b.wantNotFoundIndex(err, uid)
		}},
		{"an unknown index gives NotFound of the index", func(b *bundle) {
			unknown := b.unknownIndex()
			_, err := b.tryCreateOnly(unknown, newSplit("s1"))
			b.wantNotFoundIndex(err, unknown)
		}},
		{"another incarnation gives NotFound of the index and inserts nothing", func(b *bundle) {
			uid := b.index("a")
			_, err := b.tryCreateOnly(otherIncarnation(uid), newSplit("s1"))
			b.wantNotFoundIndex(err, uid)
			b.wantStates(uid, nil)
		}},
		{"the UID of a deleted and re-created index gives NotFound even for splits that the new one holds", func(b *bundle) {
			uid := b.index("a")
			b.deleteIndex(uid)
			again := b.createIndex(uid.IndexID)
			b.stage(again, newSplit("s1"))
			_, err := b.tryCreateOnly(uid, newSplit("s1"))
			b.wantNotFoundIndex(err, uid)
		}},
		{"a split that only a former incarnation held is absent", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", node("old")))
			b.deleteIndex(uid)
			again := b.createIndex(uid.IndexID)
			b.wantResult(b.createOnly(again, newSplit("s1", node("new"))), metastore.MutationYes, []string{"s1"}, nil)
			if got := b.split(again, "s1").Metadata.NodeID; got != "new" {
				b.Errorf("node id is %q, want that of the new incarnation", got)
			}
		}},
		{"the same split id under another index is neither a conflict nor touched", func(b *bundle) {
			uid, other := b.index("a"), b.index("b")
			b.lifeCycle(other)
			before := b.snapshot(other)
			result := b.createOnly(uid, newSplits("published", "marked", "staged")...)
			b.wantResult(result, metastore.MutationYes, []string{"marked", "published", "staged"}, nil)
			b.wantUnchanged(other, before)
		}},
		{"C8 a deleted split is absent and is created again", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.delete(uid, "marked")
			b.wantResult(b.createOnly(uid, newSplit("marked")), metastore.MutationYes, []string{"marked"}, nil)
			b.wantIDs(b.inState(uid, metastore.Staged), "marked", "staged")
		}},
		{"create-only splits go through life like others", func(b *bundle) {
			uid := b.index("a")
			b.createOnly(uid, newSplits("s1", "s2")...)
			b.publish(uid, "s1", "s2")
			b.mark(uid, "s1")
			b.delete(uid, "s1")
			b.wantStates(uid, map[string]metastore.SplitState{"s2": metastore.Published})
		}},
		{"upsert after create-only overwrites as it always does", func(b *bundle) {
			uid := b.index("a")
			b.createOnly(uid, newSplit("s1", node("recovery")))
			b.stage(uid, newSplit("s1", node("indexer")))
			if got := b.split(uid, "s1").Metadata.NodeID; got != "indexer" {
				b.Errorf("node id is %q, want that of the upsert", got)
			}
		}},
		{"the branch's own case: a Staged split keeps its node id and the new one appears", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", node("indexer")), newSplit("s2"))
			b.createOnly(uid, newSplit("s1", node("recovery")), newSplit("s3"))
			b.wantIDs(b.inState(uid, metastore.Staged), "s1", "s2", "s3")
			if got := b.split(uid, "s1").Metadata.NodeID; got != "indexer" {
				b.Errorf("node id is %q, want indexer", got)
			}
		}},
	}
}

// skips checks that create-only leaves the split of lifeCycle with that id alone, all of it.
func (b *bundle) skips(state metastore.SplitState, id string) {
	b.Helper()
	uid := b.index("a")
	b.lifeCycle(uid)
	before := b.snapshot(uid)
	result := b.createOnly(uid, newSplit(id, node("recovery"), timeRange(5, 6), tags("t"), opstamp(77), numDocs(1)))
	b.wantResult(result, metastore.MutationNo, nil, []metastore.SkippedSplit{{SplitID: id, State: state}})
	b.wantUnchanged(uid, before)
}

func (b *bundle) wantResult(got metastore.StageSplitsResult, mutation metastore.MutationOccurred, staged []string, skipped []metastore.SkippedSplit) {
	b.Helper()
	b.wantIDs(got.Staged, staged...)
	if len(got.Skipped)+len(skipped) > 0 && !reflect.DeepEqual(got.Skipped, skipped) {
		b.Fatalf("skipped %v, want %v", got.Skipped, skipped)
	}
	if got.Mutation != mutation {
		b.Fatalf("mutation is %v, want %v", got.Mutation, mutation)
	}
}

// sameFields compares what the fields of two documents say.
func sameFields(a, b metastore.SplitMetadata) bool {
	return a.SplitID == b.SplitID && a.PartitionID == b.PartitionID && a.SourceID == b.SourceID && a.NodeID == b.NodeID &&
		a.NumDocs == b.NumDocs && a.UncompressedDocsSize == b.UncompressedDocsSize && a.TimeRange == b.TimeRange &&
		a.Maturity == b.Maturity && reflect.DeepEqual(a.Tags, b.Tags) && a.FooterStart == b.FooterStart &&
		a.FooterEnd == b.FooterEnd && a.DeleteOpstamp == b.DeleteOpstamp && a.NumMergeOps == b.NumMergeOps && a.DocMappingUID == b.DocMappingUID
}
