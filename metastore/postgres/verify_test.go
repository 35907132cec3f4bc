package postgres

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"holdfast/integration/pgtest"
	"holdfast/metastore"
)

func mustUID(t testing.TB, text string) metastore.IndexUID {
	t.Helper()
	uid, err := metastore.ParseIndexUID(text)
	if err != nil {
		t.Fatal(err)
	}
	return uid
}

func TestOpenRefusesADatabaseThatItDoesNotUnderstand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage string
		says   []string
	}{
		"older": {"DELETE FROM _sqlx_migrations WHERE version > 16",
			[]string{"version 16", "28", "peer's release"}},
		"with a gap": {"DELETE FROM _sqlx_migrations WHERE version = 7",
			[]string{"version 6", "28"}},
		"newer": {"INSERT INTO _sqlx_migrations VALUES (30, 'new', now(), true, '\\x00', 0)",
			[]string{"migration 30", "AllowUnknownMigrations"}},
		"dirty": {"UPDATE _sqlx_migrations SET success = false WHERE version = 12",
			[]string{"migration 12", "failed"}},
		"altered": {"UPDATE _sqlx_migrations SET checksum = '\\xabcd' WHERE version = 3",
			[]string{"migration 3", "abcd"}},
		"without bookkeeping": {"DROP TABLE _sqlx_migrations",
			[]string{"_sqlx_migrations"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, dsn := openStore(t, Options{})
			conn := connect(t, dsn)
			exec(t, conn, c.damage)
			_, openErr := Open(context.Background(), Options{DSN: dsn})
			_, migrateErr := Migrate(context.Background(), dsn, MigrateOptions{})
			for _, err := range []error{openErr, migrateErr} {
				expectKind(t, err, metastore.KindInvalidArgument)
				for _, word := range c.says {
					if err != nil && !strings.Contains(err.Error(), word) {
						t.Errorf("%v does not say %q", err, word)
					}
				}
			}
		})
	}
}

func TestOpenGoesOnWithUnknownMigrationsWhenToldTo(t *testing.T) {
	t.Parallel()
	_, dsn := openStore(t, Options{})
	exec(t, connect(t, dsn), "INSERT INTO _sqlx_migrations VALUES (30, 'new', now(), true, '\\x00', 0)")
	reopenStore(t, Options{DSN: dsn, AllowUnknownMigrations: true})
}

func TestOpenDoesNotNeedTheMigrationThatThePeerDefers(t *testing.T) {
	t.Parallel()
	_, dsn := openStore(t, Options{})
	exec(t, connect(t, dsn), "DELETE FROM _sqlx_migrations WHERE version = 29")
	reopenStore(t, Options{DSN: dsn})
}

func TestOpenReadOnlyCreatesNothing(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Database(t)
	_, err := Open(context.Background(), Options{DSN: dsn, ReadOnly: true})
	expectKind(t, err, metastore.KindInvalidArgument)
	if n := queryValue[int64](t, connect(t, dsn), "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"); n != 0 {
		t.Errorf("%d relations were created", n)
	}
}

func TestOpenRefusesAnotherIsolationLevel(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Database(t)
	conn := connect(t, dsn)
	name := pgx.Identifier{queryValue[string](t, conn, "SELECT current_database()")}.Sanitize()
	exec(t, conn, "ALTER DATABASE "+name+" SET default_transaction_isolation = 'serializable'")
	_, err := Open(context.Background(), Options{DSN: dsn})
	expectKind(t, err, metastore.KindInvalidArgument)
}

// D1.13 of the checklist in interop_test.go.
func TestTheAdvisoryLockIsThePeers(t *testing.T) {
	t.Parallel()
	if key := requiredLockKey("metastore"); key != 858348042734864898 {
		t.Errorf("the key for database metastore is %d", key)
	}
}
