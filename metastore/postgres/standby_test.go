package postgres

import (
	"context"
	"errors"
	"testing"

	"holdfast/integration/pgtest"
	"holdfast/metastore"
)

// replica is a read-only view of a database.
type replica struct {
	dsn string
	// follow waits until the view shows everything that the database has.
	follow func(t *testing.T)
}

// replicas returns read-only views of a database: through sessions that may not write, and of a standby, if there is one.
func replicas(server, standby *pgtest.Server, database string) map[string]replica {
	found := map[string]replica{
		"sessions that may not write": {dsn: server.DSN(database) + "&default_transaction_read_only=on", follow: func(*testing.T) {}},
	}
	if standby == nil {
		return found
	}
	found["streaming standby"] = replica{dsn: standby.DSN(database), follow: func(t *testing.T) {
		t.Helper()
		position := queryValue[string](t, connect(t, server.DSN(database)), "SELECT pg_current_wal_lsn()::text")
		conn := connect(t, standby.DSN("postgres"))
		waitUntil(t, "the standby has caught up", func() bool {
			return queryValue[bool](t, conn, "SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn", position)
		})
	}}
	return found
}

func TestI129AndI130AReplicaAnswersReadsAndForbidsChanges(t *testing.T) {
	t.Parallel()
	server, standby := pgtest.ReplicatedServer(t)
	if server == nil {
		t.Log("without a standby: no PostgreSQL is installed")
		server = pgtest.PrivateServer(t)
	}
	database := server.Database(t)
	for name, replica := range replicas(server, standby, database) {
		t.Run(name, func(t *testing.T) {
			primary := reopenStore(t, Options{DSN: server.DSN(database)})
			uid := createIndex(t, primary, "logs")
			stage(t, primary, uid, "a", "b")
			mark(t, primary, uid, "b")
			createTemplate(t, primary, indexTemplate(t, "template", `["logs-*"]`, 1))
			replica.follow(t)
			store := reopenStore(t, Options{DSN: replica.dsn, ReadOnly: true})
			ctx := context.Background()

			if err := store.CheckConnectivity(ctx); err != nil {
				t.Errorf("check connectivity: %v", err)
			}
			if indexes, err := store.ListIndexesMetadata(ctx, allIndexes(t)); err != nil || len(indexes) != 1 || indexes[0].IndexUID != uid {
				t.Errorf("indexes %v, %v", indexes, err)
			}
			if stats, err := store.ListIndexStats(ctx, allIndexes(t)); err != nil || len(stats) != 1 {
				t.Errorf("index stats %v, %v", stats, err)
			}
			if matches, err := store.FindIndexTemplateMatches(ctx, []string{"logs-1"}); err != nil || len(matches) != 1 {
				t.Errorf("template matches %v, %v", matches, err)
			}
			expect(t, states(t, store), "a Staged", "b MarkedForDeletion")
			for call, write := range writes(t, store, uid) {
				if call == "cluster identity" {
					continue // reads, once there is one
				}
				if err := write(); !errors.Is(err, metastore.ErrForbidden) {
					t.Errorf("%s: got %v, want Forbidden", call, err)
				}
			}

			identity, err := primary.ClusterIdentity(ctx)
			if err != nil {
				t.Fatal(err)
			}
			stage(t, primary, uid, "c")
			replica.follow(t)
			expect(t, states(t, store), "a Staged", "b MarkedForDeletion", "c Staged")
			if got, err := store.ClusterIdentity(ctx); err != nil || got != identity {
				t.Errorf("identity %q, %v, want %q", got, err, identity)
			}
			if err := primary.DeleteIndex(ctx, uid); err != nil {
				t.Fatal(err)
			}
			if err := primary.DeleteIndexTemplates(ctx, []string{"template"}); err != nil {
				t.Fatal(err)
			}
		})
	}
}
