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

func TestThePurgeTellsWhatItRemovedAndWhatIsLeft(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{PurgeInterval: time.Hour})
	if known := store.Statistics(); known.Purge == nil || known.Purge.Measured || known.Purged != 0 || known.Logs != nil {
		t.Fatalf("before the first run: %+v, %+v", known, known.Purge)
	}
	for age := range 3 {
		insertRecordOf(t, dsn, time.Now().Add(-time.Duration(age)*time.Minute))
	}
	insertRecordOf(t, dsn, time.Now().Add(-24*time.Hour))
	if _, err := store.tidyRecords(t.Context()); err != nil {
		t.Fatal(err)
	}
	exec(t, connect(t, dsn), "ANALYZE holdfast.idempotency_records") // it tells the database how many rows there are
	if _, err := store.tidyRecords(t.Context()); err != nil {
		t.Fatal(err)
	}

	if known := store.Statistics(); known.Purged != 1 || *known.Purge != (idempotency.PurgeStatistics{Measured: true, Records: 3}) {
		t.Errorf("one record was removed and three are left, which are not old: %d, %+v", known.Purged, *known.Purge)
	}

	conn := connect(t, dsn)
	exec(t, conn, `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE insufficient_privilege; END $$`)
	exec(t, conn, `CREATE TRIGGER refuse BEFORE DELETE ON holdfast.idempotency_records FOR EACH ROW EXECUTE FUNCTION refuse()`)
	insertRecordOf(t, dsn, time.Now().Add(-24*time.Hour))
	if _, err := store.tidyRecords(t.Context()); err == nil {
		t.Fatal("the record was removed")
	}

	known := store.Statistics()
	window := idempotency.DefaultWindow()
	want := 24*time.Hour - window.Horizon() - window.PurgeDelay
	if lag := known.Purge.Lag; known.Purge.Failures != 1 || lag < want || lag > want+time.Minute {
		t.Errorf("%d failures and a lag of %s, want one and about %s", known.Purge.Failures, lag, want)
	}
}
