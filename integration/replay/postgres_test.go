package replay

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"holdfast/integration/pgtest"
	"holdfast/metastore/postgres"
)

func TestPostgresStoreAnswersAsThePeersPostgresStore(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Database(t)
	store, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	skipOpstamps(t, dsn)
	Run(t, serve(t, store), Postgres)
}

// skipOpstamps has all opstamps be above the ones that recorded requests name, as the peer's were, whatever scenarios
// are played.
func skipOpstamps(t *testing.T, dsn string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }() // nothing is lost with it
	if _, err := conn.Exec(t.Context(), "SELECT setval('delete_tasks_opstamp_seq', 1000)"); err != nil {
		t.Fatal(err)
	}
}
