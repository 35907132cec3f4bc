package idempotency

import (
	"context"
	"encoding/json"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"holdfast/metastore/idempotency"
	"holdfast/proto/commonpb"
	"holdfast/proto/metastorepb"
)

func indexCases() []kase {
	return []kase{
		{name: "K-18 a repeated CreateIndex answers the same index", run: func(b *bundle) {
			key := b.newKey()
			first := must(b, b.client.CreateIndex, createIndex(indexID), key)
			again := replay(b, b.client.CreateIndex, createIndex(indexID), "current", key)
			wantEqual(b, again, first)
		}},
		{name: "K-19 a repeated CreateIndex answers what has become of the index", run: func(b *bundle) {
			key := b.newKey()
			first := must(b, b.client.CreateIndex, createIndex(indexID), key)
			must(b, b.client.UpdateIndex, updateIndex(b, first.GetIndexUid(), 7))
			again := replay(b, b.client.CreateIndex, createIndex(indexID), "current", key)
			wantEqual(b, again.GetIndexUid(), first.GetIndexUid())
			if shards := minShards(b, again.GetIndexMetadataJson()); shards != 7 {
				b.Fatalf("min_shards is %d, want 7", shards)
			}
		}},
		{name: "K-20 a repeated CreateIndex of an index that was deleted answers it as it was created", run: func(b *bundle) {
			key := b.newKey()
			first := must(b, b.client.CreateIndex, createIndex(indexID), key)
			must(b, b.client.DeleteIndex, &metastorepb.DeleteIndexRequest{IndexUid: first.GetIndexUid()})
			again := replay(b, b.client.CreateIndex, createIndex(indexID), "gone", key)
			wantEqual(b, again, first)
			if b.metadataOf(indexID) != nil {
				b.Fatal("the index exists again")
			}
		}},
		{name: "K-21 a repeated CreateIndex does not answer another index of the same id", run: func(b *bundle) {
			key := b.newKey()
			first := must(b, b.client.CreateIndex, createIndex(indexID), key)
			must(b, b.client.DeleteIndex, &metastorepb.DeleteIndexRequest{IndexUid: first.GetIndexUid()})
			second := must(b, b.client.CreateIndex, createIndex(indexID))
			again := replay(b, b.client.CreateIndex, createIndex(indexID), "gone", key)
			wantEqual(b, again.GetIndexUid(), first.GetIndexUid())
			if proto.Equal(second.GetIndexUid(), first.GetIndexUid()) {
				b.Fatal("the second index has the UID of the first")
			}
		}},
		{name: "K-22 a CreateIndex that was refused may be repeated with its key", run: func(b *bundle) {
			uid, key := b.index(), b.newKey()
			_, _, err := call(b, b.client.CreateIndex, createIndex(indexID), key)
			wantCode(b, err, codes.AlreadyExists)
			must(b, b.client.DeleteIndex, &metastorepb.DeleteIndexRequest{IndexUid: uid})
			must(b, b.client.CreateIndex, createIndex(indexID), key)
		}},
		{name: "K-23 a repeated UpdateIndex does not undo a later update", run: func(b *bundle) {
			uid, key := b.index(), b.newKey()
			update := updateIndex(b, uid, 3)
			must(b, b.client.UpdateIndex, update, key)
			must(b, b.client.UpdateIndex, updateIndex(b, uid, 5), b.newKey())
			again := replay(b, b.client.UpdateIndex, update, "current", key)
			if shards := minShards(b, again.GetIndexMetadataSerializedJson()); shards != 5 {
				b.Fatalf("answered min_shards %d, want 5", shards)
			}
		}},
		{name: "K-24 a repeated UpdateIndex of an index that is gone says so", run: func(b *bundle) {
			uid, key := b.index(), b.newKey()
			update := updateIndex(b, uid, 3)
			must(b, b.client.UpdateIndex, update, key)
			must(b, b.client.DeleteIndex, &metastorepb.DeleteIndexRequest{IndexUid: uid})
			_, _, err := call(b, b.client.UpdateIndex, update, key)
			details := wantRefused(b, err, idempotency.ResultGone, codes.NotFound, "originalStatus", "resource")
			if details["originalStatus"] != "OK" {
				b.Fatalf("original status %q", details["originalStatus"])
			}
		}},
		{name: "K-25 a repeated DeleteIndex succeeds", run: func(b *bundle) {
			key := b.newKey()
			request := &metastorepb.DeleteIndexRequest{IndexUid: b.index()}
			must(b, b.client.DeleteIndex, request, key)
			replay(b, b.client.DeleteIndex, request, "current", key)
		}},
		{name: "K-26 a repeated DeleteIndex leaves a new index of the same id alone", run: func(b *bundle) {
			key := b.newKey()
			request := &metastorepb.DeleteIndexRequest{IndexUid: b.index()}
			must(b, b.client.DeleteIndex, request, key)
			b.index()
			replay(b, b.client.DeleteIndex, request, "current", key)
			if b.metadataOf(indexID) == nil {
				b.Fatal("the new index was deleted")
			}
		}},
		{name: "K-74 the record of a call outlives the index that it was about", run: func(b *bundle) {
			uid, key := b.index(), b.newKey()
			request := addSource(uid, "source")
			must(b, b.client.AddSource, request, key)
			must(b, b.client.DeleteIndex, &metastorepb.DeleteIndexRequest{IndexUid: uid})
			replay(b, b.client.AddSource, request, "current", key)
		}},
		{name: "repeated calls on an index that was deleted succeed and leave a new index of the same id alone", run: func(b *bundle) {
			uid := b.index("source", ingestSource)
			var again []func()
			later(b, &again, b.client.AddSource, addSource(uid, "added"))
			later(b, &again, b.client.ToggleSource, &metastorepb.ToggleSourceRequest{IndexUid: uid, SourceId: "added", Enable: false})
			later(b, &again, b.client.DeleteSource, &metastorepb.DeleteSourceRequest{IndexUid: uid, SourceId: "added"})
			later(b, &again, b.client.PublishSplits, progress(uid, "", "1"))
			later(b, &again, b.client.ResetSourceCheckpoint, &metastorepb.ResetSourceCheckpointRequest{IndexUid: uid, SourceId: "source"})
			later(b, &again, b.client.StageSplits, stageSplits(uid, "a", "b"))
			later(b, &again, b.client.StageSplits, createOnly(uid, "c"))
			later(b, &again, b.client.PublishSplits, publishSplits(uid, "a"))
			later(b, &again, b.client.PublishSplits, publishSplits(uid, "b", "c"))
			later(b, &again, b.client.UpdateSplitsDeleteOpstamp, &metastorepb.UpdateSplitsDeleteOpstampRequest{IndexUid: uid, SplitIds: []string{"a"}, DeleteOpstamp: 3})
			later(b, &again, b.client.MarkSplitsForDeletion, markSplits(uid, "a"))
			later(b, &again, b.client.DeleteSplits, &metastorepb.DeleteSplitsRequest{IndexUid: uid, SplitIds: []string{"a"}})
			later(b, &again, b.client.StageMetricsSplits, &metastorepb.StageMetricsSplitsRequest{IndexUid: uid, SplitsMetadataJson: []string{parquetDocument(uid, "m")}})
			later(b, &again, b.client.PublishMetricsSplits, &metastorepb.PublishMetricsSplitsRequest{IndexUid: uid, StagedSplitIds: []string{"m"}})
			later(b, &again, b.client.MarkMetricsSplitsForDeletion, &metastorepb.MarkMetricsSplitsForDeletionRequest{IndexUid: uid, SplitIds: []string{"m"}})
			later(b, &again, b.client.DeleteMetricsSplits, &metastorepb.DeleteMetricsSplitsRequest{IndexUid: uid, SplitIds: []string{"m"}})
			must(b, b.client.OpenShards, openShards(uid, "s1", "s2"))
			later(b, &again, b.client.AcquireShards, acquireShards(uid, "t1", "s1"))
			later(b, &again, b.client.DeleteShards, deleteShards(uid, true, "s1"))
			none := uint32(0)
			later(b, &again, b.client.PruneShards, &metastorepb.PruneShardsRequest{IndexUid: uid, SourceId: ingestSource, MaxCount: &none})
			later(b, &again, b.client.CreateDeleteTask, deleteTask(uid))
			later(b, &again, b.client.DeleteIndex, &metastorepb.DeleteIndexRequest{IndexUid: uid})
			repeatAll := func() {
				for _, repeat := range again {
					repeat()
				}
			}
			repeatAll()
			next := b.index("source", ingestSource)
			repeatAll()
			b.wantStates("")
			b.wantShards(next)
			if sources, tasks := len(b.metadataOf(indexID).Sources), b.numTasks(next); sources != 2 || tasks != 0 {
				b.Fatalf("the new index has %d sources and %d delete tasks, want 2 and none", sources, tasks)
			}
		}},
	}
}

// later makes a call with a key, and adds its repetition to again.
func later[Q, R any](b *bundle, again *[]func(), do func(context.Context, Q, ...grpc.CallOption) (R, error), request Q) {
	b.Helper()
	key := b.newKey()
	must(b, do, request, key)
	*again = append(*again, func() { replay(b, do, request, "current", key) })
}

// updateIndex sets the least number of shards and leaves the rest as it is.
func updateIndex(b *bundle, uid *commonpb.IndexUid, shards int) *metastorepb.UpdateIndexRequest {
	b.Helper()
	var index struct {
		Config struct {
			DocMapping       json.RawMessage `json:"doc_mapping"`
			IndexingSettings json.RawMessage `json:"indexing_settings"`
			SearchSettings   json.RawMessage `json:"search_settings"`
		} `json:"index_config"`
	}
	metadata := must(b, b.client.IndexMetadata, &metastorepb.IndexMetadataRequest{IndexUid: uid})
	if err := json.Unmarshal([]byte(metadata.GetIndexMetadataSerializedJson()), &index); err != nil {
		b.Fatal(err)
	}
	settings, err := json.Marshal(map[string]int{"min_shards": shards})
	if err != nil {
		b.Fatal(err)
	}
	return &metastorepb.UpdateIndexRequest{
		IndexUid: uid, DocMappingJson: string(index.Config.DocMapping), IndexingSettingsJson: string(index.Config.IndexingSettings),
		SearchSettingsJson: string(index.Config.SearchSettings), IngestSettingsJson: string(settings),
	}
}

func minShards(b *bundle, metadata string) int {
	b.Helper()
	var index struct {
		Config struct {
			Ingest struct {
				MinShards int `json:"min_shards"`
			} `json:"ingest_settings"`
		} `json:"index_config"`
	}
	if err := json.Unmarshal([]byte(metadata), &index); err != nil {
		b.Fatal(err)
	}
	return index.Config.Ingest.MinShards
}
