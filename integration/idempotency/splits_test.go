package idempotency

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
	"holdfast/proto/commonpb"
	"holdfast/proto/metastorepb"
)

func splitCases() []kase {
	return []kase{
		{name: "K-31 a repeated StageSplits of splits that were published succeeds", run: func(b *bundle) {
			uid, key := b.index(), b.newKey()
			must(b, b.client.StageSplits, stageSplits(uid, "a", "b"), key)
			must(b, b.client.PublishSplits, publishSplits(uid, "a", "b"))
			replay(b, b.client.StageSplits, stageSplits(uid, "a", "b"), "current", key)
			b.wantStates("a=Published b=Published")
		}},
		{name: "K-32 a repeated StageSplits does not bring deleted splits back", run: func(b *bundle) {
			uid, key := b.index(), b.newKey()
			must(b, b.client.StageSplits, stageSplits(uid, "a"), key)
			must(b, b.client.MarkSplitsForDeletion, markSplits(uid, "a"))
			must(b, b.client.DeleteSplits, &metastorepb.DeleteSplitsRequest{IndexUid: uid, SplitIds: []string{"a"}})
			replay(b, b.client.StageSplits, stageSplits(uid, "a"), "current", key)
			b.wantStates("")
		}},
		{name: "K-33 a repeated create-only StageSplits leaves every row as it is", run: func(b *bundle) {
			uid, key := b.index(), b.newKey()
			b.published(uid, "old")
			before := b.row("old")
			request := createOnly(uid, "new", "old")
			documents := &request.CreateOnlySplitMetadataListSerializedJson
			*documents = strings.ReplaceAll(*documents, `"num_docs":1`, `"num_docs":7`)
			first := must(b, b.client.StageSplits, request, key)
			if !first.GetCreateOnlyApplied() || len(first.GetStagedSplitIds()) != 1 {
				b.Fatalf("answered %v", first)
			}
			must(b, b.client.PublishSplits, publishSplits(uid, "new"))
			again := replay(b, b.client.StageSplits, request, "current", key)
			if !again.GetCreateOnlyApplied() || len(again.GetStagedSplitIds()) != 0 || len(again.GetSkippedSplits()) != 2 {
				b.Fatalf("repeated: answered %v", again)
			}
			b.wantStates("new=Published old=Published")
			if after := b.row("old"); after != before {
				b.Fatalf("the row that was there is %+v, was %+v", after, before)
			}
		}},
		{name: "K-34 a key of a create-only call is refused without the flag", run: func(b *bundle) {
			uid, key := b.index(), b.newKey()
			must(b, b.client.StageSplits, createOnly(uid, "a"), key)
			_, _, err := call(b, b.client.StageSplits, stageSplits(uid, "a"), key)
			wantMismatch(b, err, "fingerprint")
		}},
		{name: "K-37 a repeated PublishSplits of splits that were replaced succeeds", run: func(b *bundle) {
			uid, key := b.index(), b.newKey()
			must(b, b.client.StageSplits, stageSplits(uid, "a", "merged"))
			must(b, b.client.PublishSplits, publishSplits(uid, "a"), key)
			merge := publishSplits(uid, "merged")
			merge.ReplacedSplitIds = []string{"a"}
			must(b, b.client.PublishSplits, merge)
			replay(b, b.client.PublishSplits, publishSplits(uid, "a"), "current", key)
			b.wantStates("a=MarkedForDeletion merged=Published")
		}},
		{name: "K-38 repeated marks and deletions leave splits alone that came back since", run: func(b *bundle) {
			uid, mark, remove := b.index(), b.newKey(), b.newKey()
			deletion := &metastorepb.DeleteSplitsRequest{IndexUid: uid, SplitIds: []string{"a"}}
			must(b, b.client.StageSplits, stageSplits(uid, "a"))
			must(b, b.client.MarkSplitsForDeletion, markSplits(uid, "a"), mark)
			must(b, b.client.DeleteSplits, deletion, remove)
			must(b, b.client.StageSplits, stageSplits(uid, "a"))
			replay(b, b.client.MarkSplitsForDeletion, markSplits(uid, "a"), "current", mark)
			b.wantStates("a=Staged")
			must(b, b.client.MarkSplitsForDeletion, markSplits(uid, "a"))
			replay(b, b.client.DeleteSplits, deletion, "current", remove)
			b.wantStates("a=MarkedForDeletion")
		}},
		{name: "metrics and sketch splits follow the rules of the others", run: func(b *bundle) {
			uid, keys := b.index(), []string{b.newKey(), b.newKey(), b.newKey(), b.newKey()}
			document := parquetDocument(uid, "m")
			stage := &metastorepb.StageMetricsSplitsRequest{IndexUid: uid, SplitsMetadataJson: []string{document}}
			publish := &metastorepb.PublishMetricsSplitsRequest{IndexUid: uid, StagedSplitIds: []string{"m"}}
			mark := &metastorepb.MarkMetricsSplitsForDeletionRequest{IndexUid: uid, SplitIds: []string{"m"}}
			remove := &metastorepb.DeleteMetricsSplitsRequest{IndexUid: uid, SplitIds: []string{"m"}}
			for range 2 {
				_, stageTold, err := call(b, b.client.StageMetricsSplits, stage, keys[0])
				wantCode(b, err, codes.OK)
				_, publishTold, err := call(b, b.client.PublishMetricsSplits, publish, keys[1])
				wantCode(b, err, codes.OK)
				if stageTold.replayed != publishTold.replayed {
					b.Fatal("one call was executed twice")
				}
			}
			must(b, b.client.MarkMetricsSplitsForDeletion, mark, keys[2])
			must(b, b.client.DeleteMetricsSplits, remove, keys[3])
			replay(b, b.client.StageMetricsSplits, stage, "current", keys[0])
			replay(b, b.client.MarkMetricsSplitsForDeletion, mark, "current", keys[2])
			replay(b, b.client.DeleteMetricsSplits, remove, "current", keys[3])
			sketch := &metastorepb.StageSketchSplitsRequest{IndexUid: uid, SplitsMetadataJson: []string{document}}
			_, _, err := call(b, b.client.StageSketchSplits, sketch, keys[0])
			wantMismatch(b, err, "operation")
		}},
		{name: "a repeated UpdateSplitsDeleteOpstamp does not lower a later one", run: func(b *bundle) {
			uid, key := b.index(), b.newKey()
			b.published(uid, "a")
			update := func(opstamp uint64) *metastorepb.UpdateSplitsDeleteOpstampRequest {
				return &metastorepb.UpdateSplitsDeleteOpstampRequest{IndexUid: uid, SplitIds: []string{"a"}, DeleteOpstamp: opstamp}
			}
			must(b, b.client.UpdateSplitsDeleteOpstamp, update(3), key)
			must(b, b.client.UpdateSplitsDeleteOpstamp, update(9))
			_, told, err := call(b, b.client.UpdateSplitsDeleteOpstamp, update(3), key)
			if err != nil || !told.replayed {
				b.Fatalf("repeated: %v, %+v", err, told)
			}
		}},
	}
}

// row returns the split as it is listed.
func (b *bundle) row(id string) metastore.SplitRow {
	b.Helper()
	query := metastore.AllSplits()
	query.IncludedSplitIDs = []string{id}
	var found metastore.SplitRow
	err := b.store.ListSplits(b.Context(), query, func(row *metastore.SplitRow) error {
		found = *row
		return nil
	})
	if err != nil || found.Document == "" {
		b.Fatalf("split %s: %+v, %v", id, found, err)
	}
	return found
}

func markSplits(uid *commonpb.IndexUid, ids ...string) *metastorepb.MarkSplitsForDeletionRequest {
	return &metastorepb.MarkSplitsForDeletionRequest{IndexUid: uid, SplitIds: ids}
}

func createOnly(uid *commonpb.IndexUid, ids ...string) *metastorepb.StageSplitsRequest {
	request := stageSplits(uid, ids...)
	request.CreateOnly = true
	request.CreateOnlySplitMetadataListSerializedJson, request.SplitMetadataListSerializedJson = request.SplitMetadataListSerializedJson, ""
	return request
}

func parquetDocument(uid *commonpb.IndexUid, id string) string {
	return `{"kind":"Metrics","split_id":"` + id + `","index_uid":"` + uidText(uid) + `","time_range":{"start_secs":1,"end_secs":2},"num_rows":1,"size_bytes":1,` +
		`"metric_names":["cpu"],"low_cardinality_tags":{},"high_cardinality_tag_keys":[],"created_at":{"secs_since_epoch":1,"nanos_since_epoch":0}}`
}

// wantMismatch says that a key was used for another request.
func wantMismatch(b *bundle, err error, mismatch string) {
	b.Helper()
	details := wantRefused(b, err, idempotency.KeyReused, codes.FailedPrecondition, "mismatch", "recordedOperation", "requestedOperation")
	if details["mismatch"] != mismatch {
		b.Fatalf("mismatch %q, want %q", details["mismatch"], mismatch)
	}
}

func clone[M proto.Message](message M) M { return proto.Clone(message).(M) }
