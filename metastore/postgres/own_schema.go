package postgres

import (
	"context"
	"embed"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"holdfast/metastore"
)

// What is ours and not the peer's is in schema holdfast, with a history of its own: the peer refuses to
// start on a database whose migration table has versions that it does not know. The files are named
// after their versions, which begin at 1 and have no gaps.
//
//go:embed sql/holdfast
var ownMigrations embed.FS

const ownMigrationsDirectory = "sql/holdfast"

// migrateOwnSchema brings schema holdfast to the newest version. A newer one, which another release has
// made, is left as it is: migrations only add.
func migrateOwnSchema(ctx context.Context, conn *pgx.Conn, database string) error {
	migrations, err := fs.ReadDir(ownMigrations, ownMigrationsDirectory)
	if err != nil {
		return err
	}
	if version, err := ownVersion(ctx, conn); err != nil || version >= len(migrations) {
		return err
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// The peer's lock, so that only one lock has to be thought about. Until the end of the transaction, for the
		// sake of transaction-pooling proxies.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1::bigint)", requiredLockKey(database)); err != nil {
			return err
		}
		// A look at the catalog, which also lets the session learn what was created while it waited for the lock: what it
		// remembers of the schema may be older.
		var exists bool
		if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'holdfast')").Scan(&exists); err != nil {
			return err
		}
		if !exists {
			if _, err := tx.Exec(ctx, "CREATE SCHEMA holdfast"); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS holdfast.migrations (version int PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"); err != nil {
			return err
		}
		version, err := ownVersion(ctx, tx)
		if err != nil {
			return err
		}
		for _, file := range migrations[min(version, len(migrations)):] {
			if err := applyOwnMigration(ctx, tx, file.Name()); err != nil {
				return err
			}
		}
		return nil
	})
	if hasState(err, stateInsufficientRights) {
		return metastore.Forbidden(nil, "database %q: the user may not create or change schema holdfast, where idempotency keys are remembered: grant it CREATE on the database, run metastore migrate once as the owner, or switch idempotency keys off", database)
	}
	return err
}

func applyOwnMigration(ctx context.Context, tx pgx.Tx, name string) error {
	number, _, _ := strings.Cut(name, "_")
	version, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	text, err := ownMigrations.ReadFile(path.Join(ownMigrationsDirectory, name))
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, string(text), pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO holdfast.migrations (version, name) VALUES ($1, $2)", version, name)
	return err
}

// ownVersion returns the version of schema holdfast, 0 if there is none.
func ownVersion(ctx context.Context, conn queryRower) (version int, err error) {
	var exists bool
	if err := conn.QueryRow(ctx, "SELECT to_regclass('holdfast.migrations') IS NOT NULL").Scan(&exists); err != nil || !exists {
		return 0, err
	}
	err = conn.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM holdfast.migrations").Scan(&version)
	return version, err
}
