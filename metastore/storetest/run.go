package storetest

import (
	"testing"

	"holdfast/metastore"
)

// CreateTimestampRule says which create timestamp a store shows for a split.
type CreateTimestampRule uint8

const (
	// PayloadCreateTimestamp is the create timestamp of the staged document, as on the peer's file-backed store.
	PayloadCreateTimestamp CreateTimestampRule = iota
	// StageTime is the time at which the split was staged last, as on the peer's PostgreSQL store.
	StageTime
)

// Profile describes the documented differences between stores. But for CreateWithShards, the zero value describes the file store.
type Profile struct {
	// CreateTimestamp is the rule for the create timestamp of splits, in listings and in filters.
	// Maturity always counts from the staged document's own timestamp.
	CreateTimestamp CreateTimestampRule
	// ParquetIDsAreGlobal is true where the ids of Parquet splits of one kind are unique over all indexes, as the peer's
	// PostgreSQL schema demands; elsewhere each index has its own.
	ParquetIDsAreGlobal bool
	// CutsErrors is true of a client: an error that names thousands of splits reaches it with the first of them
	// only, because it travels in a header of limited size.
	CutsErrors bool
	// CreateWithShards creates an index with shards of one source as they are, beneath the store: with times and states that no call
	// could give them at once. Required.
	CreateWithShards func(t *testing.T, store metastore.Store, metadata *metastore.IndexMetadata, shards []metastore.Shard)
}

// Run plays every case against one store, which open opens and arranges to be closed (with t.Cleanup).
// The cases run in parallel, each on indexes of its own, so the store may hold other indexes, and the
// suite may run on a store that others use meanwhile.
func Run(t *testing.T, profile Profile, open func(t *testing.T) metastore.Store) {
	store := open(t)
	for _, group := range groups() {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.run(newBundle(t, store, profile))
				})
			}
		})
	}
}

// group is the cases of one subject.
type group struct {
	name  string
	cases []testCase
}

// testCase is one rule, named as a sentence, and the check of it.
type testCase struct {
	name string
	run  func(b *bundle)
}

func groups() []group {
	return []group{
		{"create index", createIndexCases()},
		{"recover index", recoverIndexCases()},
		{"update index", updateIndexCases()},
		{"index metadata", indexMetadataCases()},
		{"list indexes", listIndexesCases()},
		{"index stats", indexStatsCases()},
		{"delete index", deleteIndexCases()},
		{"sources", sourcesCases()},
		{"identity", identityCases()},
		{"index templates", indexTemplatesCases()},
		{"index template matches", indexTemplateMatchesCases()},
		{"stage splits", stageSplitsCases()},
		{"stage values", stageValuesCases()},
		{"create only", createOnlyCases()},
		{"create only untouched", createOnlyUntouchedCases()},
		{"publish splits", publishSplitsCases()},
		{"publish delta", publishDeltaCases()},
		{"publish shards", publishShardsCases()},
		{"replace splits", replaceSplitsCases()},
		{"mark splits", markSplitsCases()},
		{"delete splits", deleteSplitsCases()},
		{"delete tasks", deleteTasksCases()},
		{"delete opstamps", deleteOpstampsCases()},
		{"delete opstamp floor", opstampFloorCases()},
		{"stale splits", staleSplitsCases()},
		{"large calls", largeCallsCases()},
		{"timestamps", timestampsCases()},
		{"list splits", listSplitsCases()},
		{"list filters", listFiltersCases()},
		{"list time bounds", listTimeBoundsCases()},
		{"list tags", listTagsCases()},
		{"list maturity", listMaturityCases()},
		{"list order", listOrderCases()},
		{"list pages", listPagesCases()},
		{"random queries", listRandomCases()},
		{"metrics splits", parquetCases(metastore.MetricsSplits)},
		{"sketch splits", parquetCases(metastore.SketchSplits)},
		{"open shards", openShardsCases()},
		{"acquire shards", acquireShardsCases()},
		{"list shards", listShardsCases()},
		{"delete shards", deleteShardsCases()},
		{"prune shards", pruneShardsCases()},
		{"shard life", shardLifeCases()},
		{"odd values", oddValuesCases()},
		{"concurrency", concurrencyCases()},
	}
}
