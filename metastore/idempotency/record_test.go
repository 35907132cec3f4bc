package idempotency_test

import (
	"errors"
	"testing"

	"holdfast/metastore/idempotency"
	"holdfast/metastore/internal/strictjson"
)

func TestARecordHoldsForItsOwnRequestOnly(t *testing.T) {
	t.Parallel()
	binding := idempotency.Binding{Operation: "AddSource", Resource: "source/logs:1/a", Fingerprint: idempotency.Fingerprint{1}, FingerprintVersion: 1}
	record := idempotency.Record{Binding: binding}
	if err := record.Check(binding); err != nil {
		t.Fatalf("its own request: %v", err)
	}
	for mismatch, change := range map[string]func(*idempotency.Binding){
		"operation":   func(b *idempotency.Binding) { b.Operation = "DeleteSource" },
		"resource":    func(b *idempotency.Binding) { b.Resource = "source/logs:1/b" },
		"fingerprint": func(b *idempotency.Binding) { b.Fingerprint[31]++ },
	} {
		other := binding
		change(&other)
		var refused *idempotency.Error
		if err := record.Check(other); !errors.As(err, &refused) || refused.Reason != idempotency.KeyReused || refused.Metadata["mismatch"] != mismatch {
			t.Errorf("another %s: %v", mismatch, err)
		}
	}
}

func TestPrincipalsDependOnTheSecret(t *testing.T) {
	t.Parallel()
	a := idempotency.NewPrincipal([]byte("a"), "indexer")
	if a == idempotency.NewPrincipal([]byte("b"), "indexer") || a == idempotency.NewPrincipal([]byte("a"), "janitor") {
		t.Fatal("different principals are equal")
	}
	if a != idempotency.NewPrincipal([]byte("a"), "indexer") {
		t.Fatal("one principal is not equal to itself")
	}
}

func FuzzReadRecord(f *testing.F) {
	record := idempotency.Record{Binding: idempotency.Binding{Operation: "AddSource", Resource: `a "quoted" one`, FingerprintVersion: 1}, CreateTimestamp: -5, Result: "7"}
	record.Key, _ = idempotency.ParseKey(someKey)
	f.Add(record.AppendJSON(nil))
	f.Fuzz(func(t *testing.T, text []byte) {
		var read, again idempotency.Record
		if strictjson.Decode("", text, read.Read) != nil {
			return
		}
		written := read.AppendJSON(nil)
		if err := strictjson.Decode("", written, again.Read); err != nil || again != read {
			t.Fatalf("%s was read as %+v, written as %s, and read as %+v: %v", text, read, written, again, err)
		}
	})
}

func TestFingerprintsOfAnotherVersionAreNotCompared(t *testing.T) {
	t.Parallel()
	binding := idempotency.Binding{Operation: "AddSource", Resource: "source/logs:1/a", Fingerprint: idempotency.Fingerprint{1}, FingerprintVersion: 1}
	record := idempotency.Record{Binding: binding}
	newer := binding
	newer.Fingerprint, newer.FingerprintVersion = idempotency.Fingerprint{2}, 2
	if err := record.Check(newer); err != nil {
		t.Fatalf("the same request, as another release fingerprints it: %v", err)
	}
	newer.Operation = "DeleteSource"
	if record.Check(newer) == nil {
		t.Fatal("another operation was accepted")
	}
}
