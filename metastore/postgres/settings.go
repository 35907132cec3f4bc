package postgres

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"holdfast/metastore"
)

// databaseSettings are the properties of a database that the store depends on.
type databaseSettings struct {
	Database      string
	ServerVersion int64 // 150004 for 15.4
	Encoding      string
	Isolation     string
	Collation     string // of the database, for messages
	Schema        string // where unqualified names are created; empty if nowhere
	LockTimeout   string // of new sessions; "0" if there is none
	// BytewiseCollation reports whether the database compares text by its bytes, so that its indexes can
	// serve the order of listings.
	BytewiseCollation bool
}

const minServerVersion = 120000

func readSettings(ctx context.Context, config *pgx.ConnConfig) (databaseSettings, error) {
	const operation = "reading the settings of the database"
	var settings databaseSettings
	err := withConn(ctx, config, operation, func(conn *pgx.Conn) error {
		var err error
		settings, err = querySettings(ctx, conn)
		return err
	})
	if err != nil {
		return databaseSettings{}, err
	}
	return settings, settings.check()
}

func querySettings(ctx context.Context, conn *pgx.Conn) (databaseSettings, error) {
	var settings databaseSettings
	var provider, libcCollation, otherCollation string
	err := conn.QueryRow(ctx, databaseSettingsSQL).Scan(&settings.Database, &settings.ServerVersion, &settings.Encoding, &settings.Isolation,
		&provider, &libcCollation, &otherCollation, &settings.Schema, &settings.LockTimeout)
	if err != nil {
		return databaseSettings{}, err
	}
	switch provider {
	case "b": // built in: code points, which order as their UTF-8 does
		settings.Collation, settings.BytewiseCollation = otherCollation, true
	case "c":
		settings.Collation = libcCollation
		bytewise := []string{"c", "posix", "c.utf-8", "c.utf8"}
		settings.BytewiseCollation = slices.Contains(bytewise, strings.ToLower(libcCollation))
	default:
		settings.Collation = otherCollation
	}
	return settings, nil
}

// check refuses databases on which the store would misbehave.
func (s *databaseSettings) check() error {
	switch {
	case s.ServerVersion < minServerVersion:
		return metastore.InvalidArgument("the PostgreSQL server is of version %d; at least 12 is needed", s.ServerVersion/10000)
	case s.Encoding != "UTF8":
		return metastore.InvalidArgument("database %q has the encoding %s; create it with ENCODING 'UTF8'", s.Database, s.Encoding)
	case s.Isolation != "read committed":
		return metastore.InvalidArgument("database %q has the default isolation level %q; the store needs read committed: run ALTER DATABASE ... SET default_transaction_isolation = 'read committed', or set it for the user",
			s.Database, s.Isolation)
	}
	return nil
}

// withConn runs work on a connection of its own, outside of any pool.
func withConn(ctx context.Context, config *pgx.ConnConfig, operation string, work func(*pgx.Conn) error) error {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return failure(ctx, operation, "", err)
	}
	// The outcome of the work is known; a failure to say goodbye changes nothing.
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return failure(ctx, operation, "", work(conn))
}
