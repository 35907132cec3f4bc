package postgres

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
)

// Store keeps the metadata in a PostgreSQL database. It is safe for concurrent use, also by several
// processes, the peer's among them.
type Store struct {
	options   Options
	log       *slog.Logger
	pool      *pgxpool.Pool
	settings  databaseSettings
	listings  chan struct{} // one element for each listing that runs
	stages    *splitCalls
	publishes *splitCalls
	deltas    *callGroups[*publication] // publishes with a checkpoint delta
	quota     *recordQuota
	purge     *recordPurge
	// statistics are those of the purge.
	statistics *recordStatistics
	// record is that of the one call of a store that WithRecord returned.
	record *idempotency.Record
}

var _ idempotency.Store = (*Store)(nil)

// Open connects to the database of the options and checks it. An empty database gets the schema of the peer; one that
// exists must be at the version that we know, see Options.AllowUnknownMigrations. It fails with an
// *metastore.Error that says what to do.
func Open(ctx context.Context, options Options) (*Store, error) {
	config, err := options.poolConfig()
	if err != nil {
		return nil, metastore.InvalidArgument("opening the PostgreSQL store: %s", err)
	}
	if err := prepareDatabase(ctx, config.ConnConfig, &options); err != nil {
		return nil, err
	}
	settings, err := readSettings(ctx, config.ConnConfig)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, failure(ctx, "opening the PostgreSQL store", "", err)
	}
	options = options.withDefaults(config.MaxConns)
	s := &Store{
		options:  options,
		log:      options.Logger,
		pool:     pool,
		settings: settings,
		listings: make(chan struct{}, options.MaxListings),
	}
	s.stages = stageCalls().share(s)
	s.publishes = publishCalls().share(s)
	s.deltas = s.newDeltaGroups()
	s.quota = newRecordQuota(options.MaxKeysPerCaller)
	s.statistics = &recordStatistics{}
	s.purge = s.startPurge()
	return s, nil
}

// CheckConnectivity asks the database for an answer.
func (s *Store) CheckConnectivity(ctx context.Context) error {
	return s.read(ctx, "checking the database", func() []query { return []query{{sql: "SELECT 1"}} })
}

// Close waits for the calls under way and closes the connections.
func (s *Store) Close() error {
	s.stages.groups.close()
	s.publishes.groups.close()
	s.deltas.close()
	s.purge.close()
	s.pool.Close()
	return nil
}
