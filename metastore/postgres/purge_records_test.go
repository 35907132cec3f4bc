package postgres

import (
	"errors"
	"testing"
	"time"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
)

// insertRecordOf adds the record of a key that was made at a time.
func insertRecordOf(t testing.TB, dsn string, made time.Time) {
	t.Helper()
	key := idempotency.FirstKeyAt(made)
	key[6] |= 0x70
	exec(t, connect(t, dsn), `INSERT INTO holdfast.idempotency_records (key, principal, operation, resource, fingerprint, fingerprint_version)
		VALUES ($1, $2, 'AddSource', 'index/logs', $3, 1)`, key.String(), idempotency.Anonymous[:], make([]byte, 32))
}

func TestAServerWhoseClockIsAheadRemovesNoRecordTooEarly(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	insertRecordOf(t, dsn, time.Now().Add(-time.Minute))
	if removed, err := store.purgeRecords(t.Context(), time.Now().Add(24*time.Hour), 10); err != nil || removed != 0 {
		t.Fatalf("removed %d, %v; want none", removed, err)
	}
	insertRecordOf(t, dsn, time.Now().Add(-24*time.Hour))
	if removed, err := store.purgeRecords(t.Context(), time.Now().Add(24*time.Hour), 10); err != nil || removed != 1 {
		t.Fatalf("removed %d, %v; want the old one", removed, err)
	}
}

func TestRecordsThatCannotBeRemovedCountAllTheSame(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{MaxKeysPerCaller: 1, PurgeInterval: time.Hour})
	insertRecordOf(t, dsn, time.Now().Add(-24*time.Hour))
	conn := connect(t, dsn)
	exec(t, conn, `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE insufficient_privilege; END $$`)
	exec(t, conn, `CREATE TRIGGER refuse BEFORE DELETE ON holdfast.idempotency_records FOR EACH ROW EXECUTE FUNCTION refuse()`)
	exec(t, conn, "ANALYZE holdfast.idempotency_records")
	if _, err := store.tidyRecords(t.Context()); !errors.Is(err, &metastore.Error{Kind: metastore.KindForbidden}) {
		t.Fatalf("removing without the right to: %v", err)
	}
	if !store.quota.isFull(idempotency.Anonymous) {
		t.Fatal("the records were not counted")
	}
}
