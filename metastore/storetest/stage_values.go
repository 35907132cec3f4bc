package storetest

import (
	"math"
	"strings"

	"holdfast/metastore"
)

// stageValuesCases are about the values that a split document may hold, and what becomes of them.
func stageValuesCases() []testCase {
	return []testCase{
		{"every value of a document comes back as it was staged", func(b *bundle) {
			uid := b.index("a")
			text := `{"version":"0.9","split_id":"01J9ZK3V7Q5X2M8N4B6C0D1E2F","index_uid":"` + uid.String() + `",` +
				`"partition_id":14163749201883920017,"source_id":"_ingest-source","node_id":"indexer-2","num_docs":48211,` +
				`"uncompressed_docs_size_in_bytes":90717244,"time_range":{"start":1787300000,"end":1787303599},` +
				`"create_timestamp":1787303620,"maturity":{"type":"immature","maturation_period_millis":129600000},` +
				`"tags":["tenant!","tenant:42","tenant:57"],"footer_offsets":{"start":18334021,"end":18402276},` +
				`"delete_opstamp":6,"num_merge_ops":2,"doc_mapping_uid":"01J9ZJX0M3N4P5Q6R7S8T9V0W1"}`
			b.stage(uid, b.parse(text))
			row := b.rows(metastore.AllSplits(uid))[0]
			want := text
			if b.profile.CreateTimestamp == StageTime {
				split := b.split(uid, "01J9ZK3V7Q5X2M8N4B6C0D1E2F")
				want = strings.Replace(want, "1787303620", itoa(split.Metadata.CreateTimestamp), 1)
			}
			if row.Document != want {
				b.Errorf("document is\n%s, want\n%s", row.Document, want)
			}
		}},
		{"documents of older versions are accepted and come back as the current one", func(b *bundle) {
			uid := b.index("a")
			for _, version := range []string{"0.7", "0.8", "0.9"} {
				b.stage(uid, b.parse(minimalDocument(version, "split-"+version)))
				row := b.rows(onlyIDs(uid, "split-"+version))[0]
				if !strings.HasPrefix(row.Document, `{"version":"0.9",`) {
					b.Errorf("document of version %s comes back as %s", version, row.Document)
				}
			}
		}},
		{"absent values get their defaults", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, b.parse(minimalDocument("0.9", "s1")))
			got := b.split(uid, "s1").Metadata
			if got.SourceID != "unknown" || got.NodeID != "unknown" || got.Maturity.Immature || got.TimeRange.Set ||
				len(got.Tags) != 0 || got.DeleteOpstamp != 0 || got.NumMergeOps != 0 || got.PartitionID != 0 {
				b.Errorf("defaults are %+v", got)
			}
		}},
		{"numbers that live only in the document keep the full unsigned range", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", numDocs(math.MaxUint64), func(s *metastore.SplitMetadata) {
				s.PartitionID, s.UncompressedDocsSize, s.NumMergeOps = math.MaxUint64, math.MaxUint64-1, math.MaxUint64-2
			}))
			got := b.split(uid, "s1").Metadata
			if got.NumDocs != math.MaxUint64 || got.PartitionID != math.MaxUint64 ||
				got.UncompressedDocsSize != math.MaxUint64-1 || got.NumMergeOps != math.MaxUint64-2 {
				b.Errorf("numbers came back as %+v", got)
			}
		}},
		{"a delete opstamp and a file size of 2^63-1 are accepted", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", opstamp(math.MaxInt64), fileSize(math.MaxInt64)))
			if got := b.split(uid, "s1").Metadata; got.DeleteOpstamp != math.MaxInt64 || got.FooterEnd != math.MaxInt64 {
				b.Errorf("numbers came back as %+v", got)
			}
		}},
		{"canon H6 a delete opstamp above 2^63-1 gives InvalidArgument and stages nothing", func(b *bundle) {
			uid := b.index("a")
			b.wantKind(b.tryStage(uid, newSplit("ok"), newSplit("s1", opstamp(math.MaxInt64+1))), metastore.KindInvalidArgument)
			b.wantStates(uid, nil)
		}},
		{"canon H6 a file size above 2^63-1 gives InvalidArgument and stages nothing", func(b *bundle) {
			uid := b.index("a")
			b.wantKind(b.tryStage(uid, newSplit("ok"), newSplit("s1", fileSize(math.MaxInt64+1))), metastore.KindInvalidArgument)
			b.wantStates(uid, nil)
		}},
		{"canon H43 a maturity time that no store can hold gives InvalidArgument", func(b *bundle) {
			uid := b.index("a")
			b.wantKind(b.tryStage(uid, newSplit("s1", immature(math.MaxUint64))), metastore.KindInvalidArgument)
			b.wantStates(uid, nil)
		}},
		{"a mature split may have any create timestamp", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("old", created(-5)), newSplit("far", created(math.MaxInt64)), newSplit("first", created(math.MinInt64)))
			b.wantIDs(b.inState(uid, metastore.Staged), "far", "first", "old")
		}},
		{"a split id of 50 characters is accepted, one of 51 gives InvalidArgument", func(b *bundle) {
			uid := b.index("a")
			longest := strings.Repeat("é", 50)
			b.stage(uid, newSplit(longest))
			b.wantKind(b.tryStage(uid, newSplit("ok"), newSplit(longest+"x")), metastore.KindInvalidArgument)
			b.wantStates(uid, map[string]metastore.SplitState{longest: metastore.Staged})
		}},
		{"a node id of 253 characters is accepted, one of 254 gives InvalidArgument", func(b *bundle) {
			uid := b.index("a")
			longest := strings.Repeat("é", 253)
			b.stage(uid, newSplit("s1", node(longest)))
			b.wantKind(b.tryStage(uid, newSplit("s2", node(longest+"x"))), metastore.KindInvalidArgument)
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.Staged})
		}},
		{"create-only refuses the same values as upsert", func(b *bundle) {
			uid := b.index("a")
			for _, bad := range []metastore.SplitMetadata{
				newSplit("s1", opstamp(math.MaxInt64+1)), newSplit("s1", fileSize(math.MaxUint64)),
				newSplit(strings.Repeat("x", 51)), newSplit("s1", node(strings.Repeat("x", 254))), newSplit("s1", immature(math.MaxUint64)),
			} {
				_, err := b.tryCreateOnly(uid, newSplit("ok"), bad)
				b.wantKind(err, metastore.KindInvalidArgument)
			}
			b.wantStates(uid, nil)
		}},
		{"the empty split id is a split id", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit(""))
			b.publish(uid, "")
			b.wantStates(uid, map[string]metastore.SplitState{"": metastore.Published})
		}},
		{"an inverted time range is accepted", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", timeRange(200, 100)))
			if got := b.split(uid, "s1").Metadata.TimeRange; got.Value != (metastore.TimeRange{Start: 200, End: 100}) {
				b.Errorf("time range came back as %+v", got)
			}
		}},
		{"a time range of the whole signed range is accepted", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", timeRange(math.MinInt64, math.MaxInt64)))
			if got := b.split(uid, "s1").Metadata.TimeRange; got.Value != (metastore.TimeRange{Start: math.MinInt64, End: math.MaxInt64}) {
				b.Errorf("time range came back as %+v", got)
			}
		}},
		{"split ids, node ids and tags may hold any characters", func(b *bundle) {
			uid := b.index("a")
			odd := `'"\;--%_$1 ` + "\t\n é日本"
			b.stage(uid, newSplit(odd, node(odd), tags("", odd)))
			got := b.split(uid, odd).Metadata
			if got.NodeID != odd || len(got.Tags) != 2 || got.Tags[1] != odd {
				b.Errorf("values came back as %+v", got)
			}
			query := metastore.AllSplits(uid)
			query.NodeID, query.Tags = metastore.Some(odd), tag(odd)
			b.wantIDs(b.ids(query), odd)
		}},
		{"canon H7 the index UID inside a document is replaced by that of the request", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1"))
			b.createOnly(uid, newSplit("s2"))
			for _, id := range []string{"s1", "s2"} {
				if got := b.split(uid, id).Metadata.IndexUID; got != uid {
					b.Errorf("split %s shows index %s, want %s", id, got, uid)
				}
			}
		}},
		{"canon H42 the node id filter finds a split by the node id that a listing shows", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, b.parse(`{"version":"0.9","split_id":"s1","index_uid":"`+uid.String()+
				`","node_id":"indexer/pipeline","num_docs":1,"uncompressed_docs_size_in_bytes":1,"footer_offsets":{"start":1,"end":2}}`))
			shown := b.split(uid, "s1").Metadata.NodeID
			if shown != "indexer" {
				b.Errorf("node id is shown as %q, want indexer", shown)
			}
			query := metastore.AllSplits(uid)
			query.NodeID = metastore.Some(shown)
			b.wantIDs(b.ids(query), "s1")
		}},
		{"one bad document in a list refuses the whole list", func(b *bundle) {
			good := minimalDocument("0.9", "s1")
			if _, err := metastore.ParseSplitMetadataList([]byte("[" + good + `,{"version":"0.9"}]`)); err == nil {
				b.Error("the list was accepted")
			} else {
				b.wantKind(err, metastore.KindJSONDeserializeError)
			}
		}},
	}
}
