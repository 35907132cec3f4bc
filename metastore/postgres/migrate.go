package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/metastore"
)

// MigrateOptions says what Migrate may change besides creating the schema of an empty database. The zero value
// changes nothing else.
type MigrateOptions struct {
	// ReplaceHashIndex replaces the hash index on splits.node_id by a btree, without keeping readers or writers
	// waiting. A run that was interrupted is completed by the next.
	ReplaceHashIndex bool
	// AllowUnknownMigrations is as in Options.
	AllowUnknownMigrations bool
}

// MigrateReport says what Migrate found and did.
type MigrateReport struct {
	Database string
	// Created is true when the database was empty.
	Created bool
	// SchemaVersion is the highest migration that is recorded.
	SchemaVersion int64
	// NodeIndex is the index that finds splits by node id: a btree in databases of ours, a hash index in those of the
	// peer, where it makes staging slower with each split of the same node.
	NodeIndex IndexReport
	// MaturityIndex is the index that the peer builds in the background. It may be missing for a while, and
	// invalid for ever when its construction was interrupted.
	MaturityIndex IndexReport
	// Replaced is true when the hash index was replaced.
	Replaced bool
	// Collation is the collation of the database. Unless it is Bytewise, sorted listings need a sort where an
	// index would do.
	Collation         string
	BytewiseCollation bool
	// Notes are sentences for the operator, about what deserves attention.
	Notes []string
}

// IndexReport describes one index of table splits.
type IndexReport struct {
	Name   string
	Method string // "btree", "hash"; empty if the index does not exist
	Valid  bool   // false if its construction failed; such an index costs time and helps nobody
}

// Migrate creates the schema in an empty database, verifies that of any other, and reports what an
// operator should know about it. It may run while servers, ours or the peer's, use the database.
func Migrate(ctx context.Context, dsn string, options MigrateOptions) (MigrateReport, error) {
	storeOptions := Options{DSN: dsn, AllowUnknownMigrations: options.AllowUnknownMigrations}
	config, err := storeOptions.poolConfig()
	if err != nil {
		return MigrateReport{}, metastore.InvalidArgument("migrating the database: %s", err)
	}
	state, err := prepare(ctx, config.ConnConfig, &storeOptions)
	if err != nil {
		return MigrateReport{}, err
	}
	report := MigrateReport{Created: state.created}
	if len(state.applied) > 0 {
		report.SchemaVersion = state.applied[len(state.applied)-1].version
	}
	err = report.inspect(ctx, config, options)
	return report, err
}

func (r *MigrateReport) inspect(ctx context.Context, config *pgxpool.Config, options MigrateOptions) error {
	return withConn(ctx, config.ConnConfig, "migrating the database", func(conn *pgx.Conn) error {
		if options.ReplaceHashIndex {
			var err error
			if r.Replaced, err = replaceNodeIndex(ctx, conn); err != nil {
				return err
			}
		}
		settings, err := querySettings(ctx, conn)
		if err != nil {
			return err
		}
		r.Database, r.Collation, r.BytewiseCollation = settings.Database, settings.Collation, settings.BytewiseCollation
		indexes, err := splitsIndexes(ctx, conn)
		if err != nil {
			return err
		}
		r.NodeIndex, r.MaturityIndex = indexes.find(nodeIndexName), indexes.find(maturityIndexName)
		var bareUIDs int64
		if err := conn.QueryRow(ctx, countBareIndexUIDsSQL).Scan(&bareUIDs); err != nil {
			return err
		}
		r.note(indexes, bareUIDs)
		return nil
	})
}

func (r *MigrateReport) note(indexes splitsIndexList, bareUIDs int64) {
	add := func(format string, args ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, args...)) }
	switch {
	case r.NodeIndex.Method == "":
		add("index %s is missing: run with ReplaceHashIndex to create it", nodeIndexName)
	case !r.NodeIndex.Valid:
		add("index %s is invalid: run with ReplaceHashIndex to rebuild it", nodeIndexName)
	case r.NodeIndex.Method == "hash":
		add("index %s is a hash index, which makes staging slower with each split of the same node: run with ReplaceHashIndex to replace it by a btree while servers run", nodeIndexName)
	}
	switch {
	case r.MaturityIndex.Method == "":
		add("index %s is missing: the peer builds it in the background at its next start, or run CREATE INDEX CONCURRENTLY %s ON splits (maturity_timestamp, split_id)", maturityIndexName, maturityIndexName)
	case !r.MaturityIndex.Valid:
		add("index %s is invalid, its construction was interrupted and the peer does not notice: run REINDEX INDEX CONCURRENTLY %s", maturityIndexName, maturityIndexName)
	}
	if left := indexes.leftovers(); len(left) > 0 {
		add("an interrupted replacement of %s left %s behind: run with ReplaceHashIndex again to complete it", nodeIndexName, strings.Join(left, ", "))
	}
	if !r.BytewiseCollation {
		add("the database collates text as %s, not by bytes: listings sorted by index and split id cannot use the primary key and sort instead; a database created with LC_COLLATE 'C' avoids it", r.Collation)
	}
	if bareUIDs > 0 {
		add("%d indexes were created before incarnations and have an index_uid without a colon: neither the peer's current release nor this server can read them", bareUIDs)
	}
}
