package idempotency

import (
	"errors"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"holdfast/metastore/idempotency"
	"holdfast/metastore/rpc"
	"holdfast/proto/metastorepb"
)

func keyCases() []kase {
	window := idempotency.DefaultWindow()
	return []kase{
		{name: "K-1 a call without a key is answered as the peer answers it", run: func(b *bundle) {
			must(b, b.client.CreateIndex, createIndex(indexID))
			_, answer, err := call(b, b.client.CreateIndex, createIndex(indexID))
			wantCode(b, err, codes.AlreadyExists)
			if answer != (told{}) {
				b.Fatalf("headers about keys: %+v", answer)
			}
			b.wantRecords(0)
		}},
		{name: "K-2 the first call with a key is executed", run: func(b *bundle) {
			key := b.newKey()
			must(b, b.client.CreateIndex, createIndex(indexID), key)
			if b.metadataOf(indexID) == nil {
				b.Fatal("there is no index")
			}
			b.wantRecords(1)
			replay(b, b.client.CreateIndex, createIndex(indexID), "current", key)
			b.wantRecords(1)
		}},
		{name: "K-3 K-4 K-5 what is no UUID of version 7 is refused", run: func(b *bundle) {
			for _, key := range []string{
				"01999f2a-bc3d-4def-8123-456789abcdef", "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
				"01999f2abc3d7def8123456789abcdef", "{01999f2a-bc3d-7def-8123-456789abcdef}", "urn:uuid:01999f2a-bc3d-7def-8123-456789abcdef",
				"1999f2a-bc3d-7def-8123-456789abcdef", "001999f2a-bc3d-7def-8123-456789abcdef", "01999f2a-bc3d-7def-8123-456789abcdeg",
				"01999f2a-bc3d-7def-c123-456789abcdef", `"` + b.newKey() + `"`,
			} {
				_, _, err := call(b, b.client.CreateIndex, createIndex(indexID), key)
				wantRefused(b, err, idempotency.KeyInvalid, codes.InvalidArgument, "problem")
			}
			if b.metadataOf(indexID) != nil {
				b.Fatal("a refused call had an effect")
			}
		}},
		{name: "K-6 two keys are refused, also equal ones", run: func(b *bundle) {
			key := b.newKey()
			_, _, err := call(b, b.client.CreateIndex, createIndex(indexID), key, key)
			wantRefused(b, err, idempotency.KeyInvalid, codes.InvalidArgument, "problem")
		}},
		{name: "K-7 a blank key is refused, and is not the same as none", run: func(b *bundle) {
			for _, blank := range []string{"", " "} {
				_, _, err := call(b, b.client.CreateIndex, createIndex(indexID), blank)
				wantRefused(b, err, idempotency.KeyInvalid, codes.InvalidArgument, "problem")
			}
		}},
		{name: "K-8 a key is the same in upper case and in lower case", run: func(b *bundle) {
			key := b.newKey()
			must(b, b.client.CreateIndex, createIndex(indexID), strings.ToUpper(key))
			replay(b, b.client.CreateIndex, createIndex(indexID), "current", key)
		}},
		{name: "K-10 K-11 a key may be a minute ahead of the server's clock, and not more", run: func(b *bundle) {
			must(b, b.client.CreateIndex, createIndex(indexID), keyAged(-59*time.Second))
			_, _, err := call(b, b.client.CreateIndex, createIndex("other"), keyAged(-2*time.Minute))
			wantRefused(b, err, idempotency.KeyFromFuture, codes.InvalidArgument, "keyTime", "serverTime", "maxSkewSeconds")
		}},
		{name: "K-12 K-13 a key is accepted up to its horizon, used or not, and refused behind it", run: func(b *bundle) {
			old := keyAged(window.Horizon() - 20*time.Second)
			must(b, b.client.CreateIndex, createIndex(indexID), old)
			replay(b, b.client.CreateIndex, createIndex(indexID), "current", old)
			_, _, err := call(b, b.client.CreateIndex, createIndex("other"), keyAged(window.Horizon()+time.Second))
			wantRefused(b, err, idempotency.KeyExpired, codes.FailedPrecondition, "keyAgeSeconds", "lifetimeSeconds")
			if b.metadataOf("other") != nil {
				b.Fatal("a refused call had an effect")
			}
		}},
		{name: "K-14 a key behind its horizon is refused although its record is there", run: func(b *bundle) {
			key := keyAged(window.Horizon() + time.Second)
			parsed, err := idempotency.ParseKey(key)
			if err != nil {
				b.Fatal(err)
			}
			record := idempotency.Record{Key: parsed, Binding: idempotency.Binding{Principal: idempotency.Anonymous, Operation: "DeleteIndexTemplates"}}
			store := b.store.(idempotency.Store).WithRecord(record)
			must(b, b.client.CreateIndexTemplate, template(1, false))
			if err := store.DeleteIndexTemplates(b.Context(), []string{"template"}); err != nil {
				b.Fatal(err)
			}
			if err := store.DeleteIndexTemplates(b.Context(), []string{"template"}); !errors.As(err, new(*idempotency.Replayed)) {
				b.Fatalf("there is no record: %v", err)
			}
			must(b, b.client.CreateIndexTemplate, template(2, false))
			_, _, err = call(b, b.client.DeleteIndexTemplates, &metastorepb.DeleteIndexTemplatesRequest{TemplateIds: []string{"template"}}, key)
			wantRefused(b, err, idempotency.KeyExpired, codes.FailedPrecondition)
			if _, err := b.store.IndexTemplate(b.Context(), "template"); err != nil {
				b.Fatalf("a refused call had an effect: %v", err)
			}
		}},
		{name: "K-15 a server may take a call only with a key", options: rpc.IdempotencyOptions{RequireKeyFor: []string{"CreateIndex"}}, run: func(b *bundle) {
			_, _, err := call(b, b.client.CreateIndex, createIndex(indexID))
			wantRefused(b, err, idempotency.KeyRequired, codes.InvalidArgument, "operation")
			must(b, b.client.CreateIndex, createIndex(indexID), b.newKey())
		}},
		{name: "K-16 calls that read ignore a key, whatever it is", run: func(b *bundle) {
			must(b, b.client.ListIndexesMetadata, &metastorepb.ListIndexesMetadataRequest{IndexIdPatterns: []string{"*"}}, "no key", "at all")
			if got := b.counted("ListIndexesMetadata", "ignored"); got != 1 {
				b.Fatalf("counted as ignored %v times, want once", got)
			}
			b.wantRecords(0)
		}},
		{name: "K-17 a server without keys executes every call", options: rpc.IdempotencyOptions{Disabled: true}, run: func(b *bundle) {
			uid, key := b.index(), b.newKey()
			for range 2 {
				must(b, b.client.CreateDeleteTask, deleteTask(uid), key)
			}
			if n := b.numTasks(uid); n != 2 {
				b.Fatalf("%d tasks, want 2", n)
			}
			b.wantRecords(0)
			if offered := b.capabilities(); offered.IdempotencyKeyLifetime != 0 || len(offered.IdempotencyKeyRPCs) > 0 || offered.IdempotencyKeyScope != "" {
				b.Fatalf("advertised %+v", offered)
			}
		}},
	}
}

// counted is the value of the counter of keyed calls.
func (b *bundle) counted(operation, outcome string) float64 {
	b.Helper()
	families, err := b.registry.Gather()
	if err != nil {
		b.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "metastore_idempotency_requests_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if labels["operation"] == operation && labels["outcome"] == outcome {
				return metric.GetCounter().GetValue()
			}
		}
	}
	return 0
}

func (b *bundle) capabilities() rpc.Capabilities {
	b.Helper()
	client, err := rpc.Dial(b.address, rpc.ClientOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	capabilities, err := client.Capabilities(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return capabilities
}
