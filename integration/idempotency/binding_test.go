package idempotency

import (
	"errors"
	"strings"

	"google.golang.org/grpc/codes"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
	"holdfast/proto/metastorepb"
)

func bindingCases() []kase {
	return []kase{
		{name: "K-47 a key that was used for one index is refused for another; on the file store it is another key there", run: func(b *bundle) {
			key := b.newKey()
			must(b, b.client.CreateIndex, createIndex("a-index"), key)
			if !b.backend.records {
				must(b, b.client.CreateIndex, createIndex("b-index"), key)
				return
			}
			_, _, err := call(b, b.client.CreateIndex, createIndex("b-index"), key)
			wantMismatch(b, err, "resource")
			if b.metadataOf("b-index") != nil {
				b.Fatal("the index was created")
			}
		}},
		{name: "K-48 a key that was used for one operation is refused for another", run: func(b *bundle) {
			uid, key := b.index(), b.newKey()
			must(b, b.client.AddSource, addSource(uid, "source"), key)
			_, _, err := call(b, b.client.DeleteSource, &metastorepb.DeleteSourceRequest{IndexUid: uid, SourceId: "source"}, key)
			wantMismatch(b, err, "operation")
			if n := len(b.metadataOf(indexID).Sources); n != 1 {
				b.Fatalf("%d sources", n)
			}
		}},
		{name: "K-49 a key is refused for a request that differs in one byte", run: func(b *bundle) {
			uid, key := b.index(), b.newKey()
			request := addSource(uid, "source")
			must(b, b.client.AddSource, request, key)
			other := clone(request)
			other.SourceConfigJson = strings.Replace(other.SourceConfigJson, `"void"`, ` "void"`, 1)
			_, _, err := call(b, b.client.AddSource, other, key)
			wantMismatch(b, err, "fingerprint")
		}},
		{name: "K-50 the same key of another caller is another key", run: func(b *bundle) {
			uid, key := b.index(), b.newKey()
			must(b, b.client.CreateDeleteTask, deleteTask(uid), key)
			parsed, err := idempotency.ParseKey(key)
			if err != nil {
				b.Fatal(err)
			}
			theirs := idempotency.Record{Key: parsed, Binding: idempotency.Binding{
				Principal: idempotency.NewPrincipal([]byte("deployment"), "dns:other"), Operation: "CreateDeleteTask", Resource: "other",
			}}
			store := b.store.(idempotency.Store).WithRecord(theirs)
			query := metastore.DeleteQuery{IndexUID: uidOf(uid), QueryAST: "theirs"}
			if _, err := store.CreateDeleteTask(b.Context(), query); err != nil {
				b.Fatalf("the other caller learns that the key was used: %v", err)
			}
			if _, err := store.CreateDeleteTask(b.Context(), query); !errors.As(err, new(*idempotency.Replayed)) {
				b.Fatalf("the other caller's call has no record: %v", err)
			}
			replay(b, b.client.CreateDeleteTask, deleteTask(uid), "current", key)
			if n := b.numTasks(uid); n != 2 {
				b.Fatalf("%d tasks, want one of each caller", n)
			}
			b.wantRecords(2)
		}},
		{name: "K-71 a call that failed leaves its key free", run: func(b *bundle) {
			uid, key := b.index(), b.newKey()
			_, _, err := call(b, b.client.PublishSplits, publishSplits(uid, "a"), key)
			wantCode(b, err, codes.NotFound)
			b.wantRecords(0)
			must(b, b.client.StageSplits, stageSplits(uid, "a"))
			must(b, b.client.PublishSplits, publishSplits(uid, "a"), key)
		}},
	}
}
