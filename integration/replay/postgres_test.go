package replay

import (
	"testing"

	"holdfast/integration/pgtest"
	"holdfast/metastore/postgres"
)

func TestPostgresStoreAnswersAsThePeersPostgresStore(t *testing.T) {
	t.Parallel()
	store, err := postgres.Open(t.Context(), postgres.Options{DSN: pgtest.Database(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	Run(t, serve(t, store), Postgres)
}
