package postgres

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/oklog/ulid/v2"

	"holdfast/integration/pgtest"
	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// D1.7: also TestTheCheckpointIsWhereThePeerReadsItAndNothingElseOfTheDocumentChanges.
func TestD1_7AChangeOfAnIndexKeepsWhatThePeerChangedMeanwhile(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	request := createRequest(t, "logs", voidSource)
	metadata, err := store.CreateIndex(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	peer := newRival(t, dsn, `UPDATE indexes SET index_metadata_json = replace(index_metadata_json, '"checkpoint":{"source":{}}', '"checkpoint":{"source":{"p":"7"}}')`)
	if err := peer.whileWaiting(func() error { return store.ToggleSource(context.Background(), metadata.IndexUID, "source", false) }); err != nil {
		t.Fatal(err)
	}
	document := queryValue[string](t, connect(t, dsn), "SELECT index_metadata_json FROM indexes")
	if !strings.Contains(document, `"checkpoint":{"source":{"p":"7"}}`) || !strings.Contains(document, `"enabled":false`) {
		t.Errorf("a change is lost: %s", document)
	}
}

func TestD1_7WhatIsUnknownInConfigsSurvivesAChangeOfAnIndex(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	request := createRequest(t, "logs", voidSource)
	request.Sources = append(request.Sources, sourceConfig(t, "other"))
	metadata, err := store.CreateIndex(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, dsn)
	exec(t, conn, `UPDATE indexes SET index_metadata_json = replace(replace(index_metadata_json, '"index_config":{', '"index_config":{"colour":"red",'), '"source_id":"other"', '"source_id":"other","colour":"blue"')`)
	// A write takes over the time of the column, which is a second later if the clock moved on between.
	exec(t, conn, `UPDATE indexes SET create_timestamp = to_timestamp((index_metadata_json::json ->> 'create_timestamp')::bigint) AT TIME ZONE 'utc'`)
	const document = "SELECT index_metadata_json FROM indexes"
	want := strings.Replace(queryValue[string](t, conn, document), `"checkpoint":{"other":{},"source":{}}`, `"checkpoint":{"other":{},"source":{"p":"7"}}`, 1)
	if err := store.PublishSplits(t.Context(), progressOf(metadata.IndexUID, "p", "", "7")); err != nil {
		t.Fatal(err)
	}
	if got := queryValue[string](t, conn, document); got != want || strings.Count(got, "colour") != 2 {
		t.Errorf("the document is\n%s\nwant\n%s", got, want)
	}
}

// A newer peer has written a member that no version of the document has today.
func TestD1_7UnknownMembersOfTheDocumentSurviveEachKindOfWrite(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	metadata, err := store.CreateIndex(t.Context(), createRequest(t, "logs", voidSource))
	if err != nil {
		t.Fatal(err)
	}
	uid, config, conn := metadata.IndexUID, metadata.Config, connect(t, dsn)
	exec(t, conn, `UPDATE indexes SET index_metadata_json = '{"tiers":{"hot":[18446744073709551616,1.50]},' || substr(index_metadata_json, 2)`)
	stage(t, store, uid, "a")
	stageParquet(t, store, metastore.MetricsSplits, uid, parquetSplits(uid, "b")...)
	replaced, err := indexconfig.ParseSourceConfig([]byte(`{"version":"0.9","source_id":"other","source_type":"void","params":{},"input_format":"plain_text"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, write := range []struct {
		name string
		make func(ctx context.Context) error
	}{
		{"AddSource", func(ctx context.Context) error { return store.AddSource(ctx, uid, sourceConfig(t, "other")) }},
		{"UpdateSource", func(ctx context.Context) error { return store.UpdateSource(ctx, uid, replaced) }},
		{"ToggleSource", func(ctx context.Context) error { return store.ToggleSource(ctx, uid, "other", false) }},
		{"DeleteSource", func(ctx context.Context) error { return store.DeleteSource(ctx, uid, "other") }},
		{"PublishSplits", func(ctx context.Context) error { return store.PublishSplits(ctx, progressOf(uid, "p", "", "7", "a")) }},
		{"PublishParquetSplits", func(ctx context.Context) error {
			return store.PublishParquetSplits(ctx, metastore.MetricsSplits, progressOf(uid, "p", "7", "8", "b"))
		}},
		{"ResetSourceCheckpoint", func(ctx context.Context) error { return store.ResetSourceCheckpoint(ctx, uid, "source") }},
		{"UpdateIndex", func(ctx context.Context) error {
			_, err := store.UpdateIndex(ctx, uid, indexconfig.Update{DocMapping: config.DocMapping, IndexingSettings: config.IndexingSettings,
				IngestSettings: indexconfig.IngestSettings{MinShards: 7}, SearchSettings: config.SearchSettings, Retention: config.Retention})
			return err
		}},
	} {
		const document = "SELECT index_metadata_json FROM indexes"
		before := queryValue[string](t, conn, document)
		if err := write.make(t.Context()); err != nil {
			t.Fatalf("%s: %v", write.name, err)
		}
		after := queryValue[string](t, conn, document)
		if after == before || !strings.HasSuffix(after, `],"tiers":{"hot":[18446744073709551616,1.50]}}`) || strings.Count(after, "tiers") != 1 {
			t.Errorf("after %s the document is\n%s\nand was\n%s", write.name, after, before)
		}
	}
}

// D1.13: also TestTheAdvisoryLockIsThePeers. A database that the peer still has to migrate is refused at once, see
// TestOpenRefusesADatabaseThatItDoesNotUnderstand.
func TestD1_13AnEmptyDatabaseIsLeftToThePeerThatMigratesIt(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Database(t)
	peer := connect(t, dsn)
	exec(t, peer, "SELECT pg_advisory_lock($1::bigint)", requiredLockKey(databaseOf(t, dsn)))
	opened := make(chan error, 1)
	go func() {
		store, err := Open(context.Background(), Options{DSN: dsn})
		if err == nil {
			err = store.Close()
		}
		opened <- err
	}()
	waitUntil(t, "the opening waits for the peer", func() bool {
		return queryValue[int64](t, peer, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())") == 1
	})
	err := pgx.BeginFunc(t.Context(), peer, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), schemaSQL, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		return recordHistory(t.Context(), tx)
	})
	if err != nil {
		t.Fatal(err)
	}
	before := queryValue[string](t, peer, allMigrations)
	exec(t, peer, "SELECT pg_advisory_unlock($1::bigint)", requiredLockKey(databaseOf(t, dsn)))
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
	if after := queryValue[string](t, peer, allMigrations); after != before {
		t.Errorf("the peer recorded\n%s\nand now there is\n%s", before, after)
	}
}

func TestD1_13ADatabaseThatIsCompleteIsOpenedWhileThePeerHoldsItsLocks(t *testing.T) {
	t.Parallel()
	dsn := ready.Database(t)
	peer := connect(t, dsn)
	exec(t, peer, "SELECT pg_advisory_lock($1::bigint), pg_advisory_lock($2::int, $3::int)", requiredLockKey(databaseOf(t, dsn)), deferredLockFirst, deferredLockSecond)
	createIndex(t, reopenStore(t, Options{DSN: dsn}), "logs")
}

func TestAUserWhoMayNotCreateSchemasIsToldSoOrGoesWithoutIdempotencyKeys(t *testing.T) {
	t.Parallel()
	control := connect(t, pgtest.Database(t))
	role := "holdfast_" + strings.ToLower(ulid.Make().String())
	exec(t, control, "CREATE ROLE "+role+" LOGIN PASSWORD 'secret-of-the-role'")
	t.Cleanup(func() { exec(t, control, "DROP ROLE "+role) })
	dsn := restoreDump(t)
	owner := connect(t, dsn)
	exec(t, owner, "GRANT ALL ON ALL TABLES IN SCHEMA public TO "+role)
	exec(t, owner, "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO "+role)
	address, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword(role, "secret-of-the-role")

	_, err = Open(t.Context(), Options{DSN: address.String()})
	expectKind(t, err, metastore.KindForbidden)
	for _, word := range []string{"CREATE on the database", "schema holdfast", "switch idempotency keys off"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("error %v does not say %q", err, word)
		}
	}
	b := &interopBundle{T: t, dsn: dsn, conn: owner, store: reopenStore(t, Options{DSN: address.String(), NoIdempotencyKeys: true})}
	b.writeEverything()
	if queryValue[bool](t, owner, "SELECT to_regnamespace('holdfast') IS NOT NULL") {
		t.Error("schema holdfast was created")
	}

	// The owner prepares it once.
	migrate(t, dsn, MigrateOptions{})
	exec(t, owner, "GRANT USAGE ON SCHEMA holdfast TO "+role)
	exec(t, owner, "GRANT ALL ON ALL TABLES IN SCHEMA holdfast TO "+role)
	reopenStore(t, Options{DSN: address.String()})
}
