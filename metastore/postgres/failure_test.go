package postgres

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"holdfast/integration/pgtest"
	"holdfast/metastore"
)

func expectKind(t testing.TB, err error, kind metastore.ErrorKind) {
	t.Helper()
	var typed *metastore.Error
	if !errors.As(err, &typed) || typed.Kind != kind {
		t.Errorf("got error %v, want %s", err, kind)
	}
}

// writes are all mutating calls on an index that exists.
func writes(t *testing.T, store metastore.Store, uid metastore.IndexUID) map[string]func() error {
	ctx := context.Background()
	return map[string]func() error{
		"create index": func() error {
			_, err := store.CreateIndex(ctx, metastore.CreateIndexRequest{Config: indexConfig(t, "other")})
			return err
		},
		"delete index": func() error { return store.DeleteIndex(ctx, uid) },
		"stage": func() error {
			_, err := store.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: splits("z")})
			return err
		},
		"stage create-only": func() error {
			_, err := store.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: splits("z"), CreateOnly: true})
			return err
		},
		"publish": func() error {
			return store.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: []string{"a"}})
		},
		"mark":             func() error { return store.MarkSplitsForDeletion(ctx, uid, []string{"a"}) },
		"delete":           func() error { return store.DeleteSplits(ctx, uid, []string{"b"}) },
		"cluster identity": func() error { _, err := store.ClusterIdentity(ctx); return err },
		"create template": func() error {
			return store.CreateIndexTemplate(ctx, indexTemplate(t, "other", `["logs-*"]`, 1), false)
		},
		"overwrite template": func() error {
			return store.CreateIndexTemplate(ctx, indexTemplate(t, "other", `["logs-*"]`, 1), true)
		},
		"delete template": func() error { return store.DeleteIndexTemplates(ctx, []string{"other"}) },
	}
}

func TestWritesToAReadOnlyDatabaseAreForbidden(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a", "b")
	mark(t, store, uid, "b")
	conn := connect(t, dsn)
	name := pgx.Identifier{queryValue[string](t, conn, "SELECT current_database()")}.Sanitize()
	exec(t, conn, "ALTER DATABASE "+name+" SET default_transaction_read_only = on")

	for _, options := range []Options{{DSN: dsn}, {DSN: dsn, ReadOnly: true}} {
		readOnly := reopenStore(t, options)
		for call, write := range writes(t, readOnly, uid) {
			if err := write(); !errors.Is(err, metastore.ErrForbidden) {
				t.Errorf("%s, with ReadOnly %v: got %v, want Forbidden", call, options.ReadOnly, err)
			}
		}
		expect(t, states(t, readOnly), "a Staged", "b MarkedForDeletion")
	}
}

func TestTheStoreRecoversWhenItsSessionsAreTerminated(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{MaxConns: 4})
	uid := createIndex(t, store, "logs")
	conn := connect(t, dsn)
	for round, id := range numberedIDs("s", 5) {
		exec(t, conn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1", applicationName)
		// A read is repeated on a new connection; a write may be the one that finds out.
		if len(states(t, store)) != round {
			t.Fatalf("round %d: wrong number of splits", round)
		}
		stage(t, store, uid, id)
	}
}

func TestACallThatIsCutOffIsUnavailableAndLeavesNothing(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "b")
	r := newRival(t, dsn, "SELECT 1 FROM splits FOR UPDATE")
	killer := connect(t, dsn)
	result := make(chan error, 1)
	go func() {
		_, err := store.StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: uid, Splits: splits("a", "b")})
		result <- err
	}()
	waitUntil(t, "the call is terminated", func() bool {
		return queryValue[int64](t, killer, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1 AND wait_event_type = 'Lock'", applicationName) > 0
	})
	if err := <-result; !errors.Is(err, metastore.ErrUnavailable) {
		t.Errorf("got %v, want Unavailable", err)
	}
	r.commit()
	expect(t, states(t, store), "b Staged")
}

func TestTheStoreSurvivesARestartAndACrashOfTheServer(t *testing.T) {
	t.Parallel()
	server := pgtest.PrivateServer(t)
	dsn := server.DSN(server.Database(t))
	store := reopenStore(t, Options{DSN: dsn})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a")

	server.Stop(t)
	if err := store.CheckConnectivity(context.Background()); !errors.Is(err, metastore.ErrUnavailable) {
		t.Errorf("while the server is down: got %v, want Unavailable", err)
	}
	if err := store.MarkSplitsForDeletion(context.Background(), uid, []string{"a"}); !errors.Is(err, metastore.ErrUnavailable) {
		t.Errorf("while the server is down: got %v, want Unavailable", err)
	}
	server.Start(t)
	stage(t, store, uid, "b")

	server.Kill(t)
	server.Start(t)
	expect(t, states(t, store), "a Staged", "b Staged")
	stage(t, store, uid, "c")
}

func TestACallThatRunsOutOfTimeIsATimeout(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a")
	r := newRival(t, dsn, "SELECT 1 FROM splits FOR UPDATE")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	expectKind(t, store.MarkSplitsForDeletion(ctx, uid, []string{"a"}), metastore.KindTimeout)
	r.commit()
	expect(t, states(t, store), "a Staged")
}

func TestAFullPoolIsUnavailable(t *testing.T) {
	t.Parallel()
	store, _ := openStore(t, Options{MaxConns: 1})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a")
	err := store.ListSplits(context.Background(), metastore.AllSplits(), func(*metastore.SplitRow) error {
		store.options.AcquireTimeout = time.Millisecond // not before: the first connection takes a while
		return store.CheckConnectivity(context.Background())
	})
	expectKind(t, err, metastore.KindUnavailable)
	store.options.AcquireTimeout = time.Minute
	expect(t, states(t, store), "a Staged")
}

func TestAValueThatTheDatabaseRefusesIsAnInvalidArgument(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	exec(t, connect(t, dsn), "ALTER TABLE splits ALTER COLUMN node_id TYPE varchar(3)")
	_, err := store.StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: uid, Splits: splits("a")})
	expectKind(t, err, metastore.KindInvalidArgument)
}

func TestNoErrorAndNoLogHoldsThePassword(t *testing.T) {
	t.Parallel()
	const secret = "hunter2secret"
	good, err := url.Parse(pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	noSuchDatabase := *good
	noSuchDatabase.User = url.UserPassword("nobody-here", secret)
	noSuchDatabase.Path = "/no-such-database"
	for name, dsn := range map[string]string{
		"nobody listens":     "postgres://user:" + secret + "@127.0.0.1:1/db",
		"unknown host":       "postgres://user:" + secret + "@host.invalid/db",
		"bad port":           "postgres://user:" + secret + "@host:port/db",
		"bad escape":         "postgres://user:" + secret + "%zz@host/db",
		"bad parameter":      "postgres://user:" + secret + "@host/db?sslmode=" + secret,
		"keyword form":       "host=127.0.0.1 port=1 user=u password=" + secret,
		"bad keyword form":   "host=127.0.0.1 port=x password=" + secret,
		"unknown user":       noSuchDatabase.String(),
		"negative pool size": "postgres://user:" + secret + "@host/db?pool_max_conns=-1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var logged strings.Builder
			_, openErr := Open(context.Background(), Options{DSN: dsn, Logger: slog.New(slog.NewTextHandler(&logged, nil))})
			_, migrateErr := Migrate(context.Background(), dsn, MigrateOptions{})
			for _, err := range []error{openErr, migrateErr} {
				if err == nil {
					t.Fatal("no error")
				}
				for ; err != nil; err = errors.Unwrap(err) {
					if strings.Contains(err.Error(), secret) {
						t.Errorf("the error holds the password: %v", err)
					}
				}
			}
			if strings.Contains(logged.String(), secret) {
				t.Errorf("the log holds the password: %s", logged.String())
			}
		})
	}
}
