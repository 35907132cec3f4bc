package rpc_test

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/rpc"
	"holdfast/proto/metastorepb"
)

// unpack decodes a zstd frame.
func unpack(t *testing.T, frame []byte) string {
	t.Helper()
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatalf("new decoder: %v", err)
	}
	defer decoder.Close()
	text, err := decoder.DecodeAll(frame, nil)
	if err != nil {
		t.Fatalf("decode %x: %v", frame, err)
	}
	return string(text)
}

func TestListsOfIndexMetadataAreOneFrameOverACompactArray(t *testing.T) {
	t.Parallel()
	store := memStore(t)
	b := serve(t, store, rpc.ServerOptions{})
	list := func() *metastorepb.ListIndexesMetadataResponse {
		t.Helper()
		response, err := b.metastore.ListIndexesMetadata(b.ctx, &metastorepb.ListIndexesMetadataRequest{IndexIdPatterns: []string{"*"}})
		if err != nil {
			t.Fatalf("list: %v", err)
		}
		if response.IndexesMetadataJsonOpt != nil {
			t.Errorf("the deprecated list is %q, must be absent", response.GetIndexesMetadataJsonOpt())
		}
		return response
	}

	if len(list().GetIndexesMetadataJsonZstd()) == 0 || unpack(t, list().GetIndexesMetadataJsonZstd()) != "[]" {
		t.Errorf("no index gives %x, want a frame of []", list().GetIndexesMetadataJsonZstd())
	}
	first, second := createIndex(t, store, "logs-a"), createIndex(t, store, "logs-b")
	text := unpack(t, list().GetIndexesMetadataJsonZstd())
	want := "["
	for _, uid := range []metastore.IndexUID{first, second} {
		index, err := store.IndexMetadata(b.ctx, metastore.IndexLookup{IndexUID: metastore.Some(uid)})
		if err != nil {
			t.Fatalf("index metadata: %v", err)
		}
		want += string(index.AppendJSON(nil)) + ","
	}
	if want = strings.TrimSuffix(want, ",") + "]"; text != want {
		t.Errorf("list %s, want %s", text, want)
	}
}

func TestLookupsOfNoIndexGiveAFrameOfAnEmptyArray(t *testing.T) {
	t.Parallel()
	b := serve(t, memStore(t), rpc.ServerOptions{})
	unknown := "unknown"
	for _, subrequests := range [][]*metastorepb.IndexMetadataSubrequest{nil, {{IndexId: &unknown}, {}, {IndexUid: uidMessage(anyUID)}}} {
		response, err := b.metastore.IndexesMetadata(b.ctx, &metastorepb.IndexesMetadataRequest{Subrequests: subrequests})
		if err != nil {
			t.Fatalf("indexes metadata: %v", err)
		}
		if text := unpack(t, response.GetIndexesMetadataJsonZstd()); text != "[]" {
			t.Errorf("%d lookups give %s, want []", len(subrequests), text)
		}
		if len(response.GetFailures()) != len(subrequests) {
			t.Fatalf("%d failures, want %d", len(response.GetFailures()), len(subrequests))
		}
		for i, want := range []metastorepb.IndexMetadataFailureReason{1, 2, 1}[:len(subrequests)] {
			if failure := response.GetFailures()[i]; failure.GetReason() != want || failure.GetIndexId() != subrequests[i].GetIndexId() {
				t.Errorf("failure %d is %v, want reason %s", i, failure, want)
			}
		}
	}
}

func TestAListOverTheMessageLimitIsRefusedWithAdvice(t *testing.T) {
	t.Parallel()
	index := metastore.NewIndexMetadata(anyUID, metastore.CreateIndexRequest{Config: indexConfig(t, "logs-a")}, 1)
	index.Checkpoint = metastore.IndexCheckpoint{}
	for range 40_000 { // random text does not compress
		index.Checkpoint[rand.Text()] = metastore.SourceCheckpoint{rand.Text(): metastore.Position(rand.Text())}
	}
	b := serve(t, &scripted{listIndexes: func(context.Context, *indexconfig.IndexIDPatterns) ([]*metastore.IndexMetadata, error) {
		return []*metastore.IndexMetadata{index}, nil
	}}, rpc.ServerOptions{MaxMessageSize: rpc.MinMaxMessageSize})

	got := failing(b, b.metastore.ListIndexesMetadata, &metastorepb.ListIndexesMetadataRequest{IndexIdPatterns: []string{"*"}})

	if !strings.HasPrefix(got.detail(), `{"InvalidArgument":`) || !strings.Contains(got.Message(), "narrower patterns") {
		t.Errorf("%s: %s, want InvalidArgument that says what to do", got.Code(), got.detail())
	}
}
