package postgres

import (
	"bytes"
	"context"
	"hash/crc32"

	"github.com/jackc/pgx/v5"

	"holdfast/metastore"
)

// The peer's advisory locks: one for each database while it migrates, and one for the migrations that it leaves
// for later. We take the same, so that neither disturbs the other.
const (
	requiredLockFactor = 0x3d32ad9e
	deferredLockFirst  = 424242
	deferredLockSecond = 1789
)

func requiredLockKey(database string) int64 {
	return requiredLockFactor * int64(crc32.ChecksumIEEE([]byte(database)))
}

// prepareDatabase creates the schema in an empty database and verifies that of any other.
func prepareDatabase(ctx context.Context, config *pgx.ConnConfig, options *Options) error {
	_, err := prepare(ctx, config, options)
	return err
}

// schemaState says what prepare found or made.
type schemaState struct {
	created bool
	applied []appliedMigration
}

type appliedMigration struct {
	version  int64
	success  bool
	checksum []byte
}

func prepare(ctx context.Context, config *pgx.ConnConfig, options *Options) (schemaState, error) {
	const operation = "preparing the database"
	var state schemaState
	err := withConn(ctx, config, operation, func(conn *pgx.Conn) error {
		settings, err := querySettings(ctx, conn)
		if err != nil {
			return err
		}
		if err := settings.check(); err != nil {
			return err
		}
		empty, err := isEmpty(ctx, conn, &settings)
		if err != nil {
			return err
		}
		if empty {
			if options.ReadOnly {
				return metastore.InvalidArgument("database %q has no schema yet and the store is opened read-only: run metastore migrate on the primary first", settings.Database)
			}
			if state.created, err = createSchema(ctx, conn, &settings); err != nil {
				return err
			}
		}
		if state.applied, err = appliedMigrations(ctx, conn); err != nil {
			return err
		}
		if err := verifyMigrations(settings.Database, state.applied, options.AllowUnknownMigrations); err != nil {
			return err
		}
		if options.ReadOnly || options.NoIdempotencyKeys {
			return nil
		}
		return migrateOwnSchema(ctx, conn, settings.Database)
	})
	return state, err
}

// queryRower is a connection or a transaction.
type queryRower interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// isEmpty reports whether the database has nothing of the schema. It refuses one with a part of it.
func isEmpty(ctx context.Context, conn queryRower, settings *databaseSettings) (bool, error) {
	var bookkeeping, tables bool
	if err := conn.QueryRow(ctx, schemaStateSQL).Scan(&bookkeeping, &tables); err != nil {
		return false, err
	}
	if !bookkeeping && tables {
		return false, metastore.InvalidArgument("database %q has tables of the metastore but no table _sqlx_migrations that tells their version: restore it from a complete dump, or use an empty database", settings.Database)
	}
	return !bookkeeping, nil
}

// createSchema creates everything in one transaction, unless somebody else does it first.
func createSchema(ctx context.Context, conn *pgx.Conn, settings *databaseSettings) (created bool, err error) {
	if settings.Schema == "" {
		return false, metastore.InvalidArgument("database %q has no schema on its search_path in which to create tables", settings.Database)
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// Until the end of the transaction: a session's lock would stay behind in a transaction-pooling proxy.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1::bigint)", requiredLockKey(settings.Database)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1::int, $2::int)", int32(deferredLockFirst), int32(deferredLockSecond)); err != nil {
			return err
		}
		created, err = isEmpty(ctx, tx, settings)
		if err != nil || !created {
			return err
		}
		if _, err := tx.Exec(ctx, schemaSQL, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		return recordHistory(ctx, tx)
	})
	return created, err
}

// recordHistory fills the bookkeeping as the peer would have, had it created the schema.
func recordHistory(ctx context.Context, tx pgx.Tx) error {
	for _, m := range history() {
		checksum, err := m.checksumBytes()
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES ($1, $2, true, $3, 0)",
			m.version, m.description, checksum)
		if err != nil {
			return err
		}
	}
	return nil
}

func appliedMigrations(ctx context.Context, conn *pgx.Conn) ([]appliedMigration, error) {
	rows, err := conn.Query(ctx, listMigrationsSQL)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (appliedMigration, error) {
		var m appliedMigration
		err := row.Scan(&m.version, &m.success, &m.checksum)
		return m, err
	})
}

// verifyMigrations applies the peer's rules to the bookkeeping, and one more: it refuses versions that
// it does not know, of which the peer takes no notice.
func verifyMigrations(database string, applied []appliedMigration, allowUnknown bool) error {
	found := make(map[int64]appliedMigration, len(applied))
	for _, m := range applied {
		if !m.success {
			return metastore.InvalidArgument("migration %d of database %q is recorded as failed: repair the database with the peer's release that ran it", m.version, database)
		}
		found[m.version] = m
	}
	for _, m := range history() {
		record, ok := found[m.version]
		if !ok {
			if m.version > lastRequired {
				continue
			}
			return metastore.InvalidArgument("database %q is at version %d of the metastore's schema and %d is needed: start the peer's release 0.9 or later on it once, which migrates it", database, m.version-1, lastRequired)
		}
		expected, err := m.checksumBytes()
		if err != nil {
			return err
		}
		if m.version <= lastRequired && !bytes.Equal(record.checksum, expected) {
			return metastore.InvalidArgument("migration %d of database %q has the checksum %x instead of %x: the schema is not what its version says", m.version, database, record.checksum, expected)
		}
	}
	for _, m := range applied {
		if known := m.version >= 1 && m.version <= lastKnown; !known && !allowUnknown {
			return metastore.InvalidArgument("database %q has migration %d, of a newer release than this server knows (up to %d): update this server, or set AllowUnknownMigrations to go on at your own risk", database, m.version, lastKnown)
		}
	}
	return nil
}
