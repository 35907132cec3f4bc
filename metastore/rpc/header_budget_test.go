package rpc_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"holdfast/metastore"
	"holdfast/metastore/rpc"
	"holdfast/proto/metastorepb"
)

// headerSize is what HTTP/2 counts for the trailers of a failed call.
func headerSize(a answer) int {
	size := len("grpc-status") + 2 + 32 + len("content-type") + len("application/grpc") + 32 + len(":status") + 3 + 32
	encoded := 0
	for _, c := range []byte(a.Message()) {
		if c >= ' ' && c <= '~' && c != '%' {
			encoded++
		} else {
			encoded += 3
		}
	}
	size += len("grpc-message") + encoded + 32
	for key, values := range a.trailer {
		for _, value := range values {
			if strings.HasSuffix(key, "-bin") {
				value = base64.RawStdEncoding.EncodeToString([]byte(value))
			}
			size += len(key) + len(value) + 32
		}
	}
	return size
}

func TestAnErrorAboutManySplitsFitsIntoHeaders(t *testing.T) {
	t.Parallel()
	ids := make([]string, 10_000)
	for i := range ids {
		ids[i] = fmt.Sprintf("01HWP3TKJZC1RR54X4PQ3%05d", i)
	}
	for name, sent := range map[string]*metastore.Error{
		"failed precondition": metastore.FailedPrecondition(metastore.SplitsEntity(ids), "the splits are not staged"),
		"not found":           metastore.NotFound(metastore.SplitsEntity(ids)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := serve(t, &scripted{publishSplits: func(context.Context, metastore.PublishSplitsRequest) error { return sent }}, rpc.ServerOptions{})

			got := failing(b, b.metastore.PublishSplits, &metastorepb.PublishSplitsRequest{IndexUid: uidMessage(anyUID)})

			if size := headerSize(got); size > 8<<10 {
				t.Errorf("the headers take %d bytes, want at most 8 KiB", size)
			}
			decoded, err := metastore.ParseErrorJSON([]byte(got.detail()))
			if err != nil {
				t.Fatalf("read the detail: %v", err)
			}
			listed := decoded.Entity.SplitIDs
			if decoded.Kind != sent.Kind || len(listed) < 100 || listed[0] != ids[0] || listed[len(listed)-1] != ids[len(listed)-1] {
				t.Errorf("kind %s with %d ids, want %s with the first hundred or more", decoded.Kind, len(listed), sent.Kind)
			}
			omitted := fmt.Sprintf("%d more ids are not listed", len(ids)-len(listed))
			if !strings.Contains(got.Message(), omitted) {
				t.Errorf("message %q must say %q", got.Message(), omitted)
			}
			if sent.Kind == metastore.KindFailedPrecondition && !strings.Contains(decoded.Message, omitted) {
				t.Errorf("the message of the detail %q must say %q", decoded.Message, omitted)
			}
		})
	}
}

func TestAnyErrorFitsIntoHeadersAndStaysReadable(t *testing.T) {
	t.Parallel()
	var sent *metastore.Error
	b := serve(t, &scripted{deleteIndex: func(context.Context, metastore.IndexUID) error { return sent }}, rpc.ServerOptions{})
	text := rapid.Custom(func(t *rapid.T) string {
		piece := rapid.SampledFrom([]string{"a", `"`, "\x00", "%", "é", "𝄞", "\xff", "\\", "<"}).Draw(t, "piece")
		return strings.Repeat(piece, rapid.SampledFrom([]int{0, 1, 100, 5_000}).Draw(t, "count"))
	})
	rapid.Check(t, func(t *rapid.T) {
		entity := metastore.Entity{
			Kind: rapid.SampledFrom([]metastore.EntityKind{metastore.EntityIndex, metastore.EntitySource, metastore.EntitySplits, metastore.EntitySplit,
				metastore.EntityIndexes, metastore.EntityShard, metastore.EntityIndexTemplate, metastore.EntityCheckpointDelta}).Draw(t, "entity"),
			IndexID: text.Draw(t, "index id"), SourceID: text.Draw(t, "source id"), QueueID: text.Draw(t, "queue id"), TemplateID: text.Draw(t, "template id"),
			SplitIDs: rapid.SliceOfN(text, 1, 300).Draw(t, "split ids"), IndexIDs: rapid.SliceOfN(text, 0, 300).Draw(t, "index ids"),
		}
		sent = &metastore.Error{
			Kind: rapid.SampledFrom([]metastore.ErrorKind{metastore.KindAlreadyExists, metastore.KindNotFound, metastore.KindFailedPrecondition, metastore.KindInternal,
				metastore.KindTimeout, metastore.KindJSONDeserializeError, metastore.KindInvalidPublishToken, metastore.KindTooManyRequests}).Draw(t, "kind"),
			Entity: entity, Message: text.Draw(t, "message"), Cause: text.Draw(t, "cause"), StructName: text.Draw(t, "struct name"), QueueID: text.Draw(t, "queue id"),
		}
		got := failing(b, b.metastore.DeleteIndex, &metastorepb.DeleteIndexRequest{IndexUid: uidMessage(anyUID)})
		if size := headerSize(got); size > 8<<10 {
			t.Errorf("the headers take %d bytes, want at most 8 KiB", size)
		}
		decoded, err := metastore.ParseErrorJSON([]byte(got.detail()))
		if err != nil {
			t.Fatalf("read the detail %q: %v", got.detail(), err)
		}
		if decoded.Kind != sent.Kind || !utf8.ValidString(got.Message()) {
			t.Errorf("kind %s, message %q, want kind %s and valid UTF-8", decoded.Kind, got.Message(), sent.Kind)
		}
	})
}
