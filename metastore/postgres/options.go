package postgres

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/metastore/idempotency"
)

// Options says how to open a Store. Only DSN is required.
type Options struct {
	// DSN is the address of the database: postgres://user:password@host:port/database?parameters, also with the
	// schemes postgresql and pg, or libpq's keyword=value form. What is missing comes from the environment that libpq
	// knows (PGHOST, PGPASSWORD and so on). It never appears in an error or a log.
	DSN string

	// Logger receives what an operator should know. Nil discards it.
	Logger *slog.Logger

	// MaxConns is the greatest number of connections; 0 means what the DSN says in pool_max_conns,
	// and else 20.
	MaxConns int32

	// AcquireTimeout bounds the wait for a free connection, after which a call fails with Unavailable. 0 means 10 seconds.
	AcquireTimeout time.Duration

	// StreamStallTimeout bounds how long the consumer of a listing may take over one split before the
	// listing is given up with Timeout and its connection is freed. 0 means 60 seconds.
	StreamStallTimeout time.Duration

	// MaxListings is the greatest number of listings that run at one time, each of which holds a connection.
	// 0 means half of the connections, at least one.
	MaxListings int

	// PreparedStatements has the server keep named prepared statements on each connection, which saves it the
	// parsing on each call; it still plans each. False, the default, works behind a transaction-pooling proxy too.
	PreparedStatements bool

	// ReadOnly refuses every mutating call with Forbidden, and creates nothing when opening. Use it on a replica.
	ReadOnly bool

	// AllowUnknownMigrations opens a database that a newer release of the peer has migrated to a version that we do
	// not know. False, the default, refuses it.
	AllowUnknownMigrations bool

	// NoIdempotencyKeys does without the records of idempotency keys, and without schema holdfast, where they are. Then
	// WithRecord must not be used. False, the default, creates the schema where it is missing.
	NoIdempotencyKeys bool

	// IdempotencyWindow says how long the records are kept. The zero value means idempotency.DefaultWindow.
	IdempotencyWindow idempotency.Window

	// KeyWait is how long a call waits for another one with its key. 0 means 2 seconds.
	KeyWait time.Duration

	// MaxKeysPerCaller bounds the records of one caller; calls beyond are refused until old records are removed. 0 means ten
	// million.
	MaxKeysPerCaller int64

	// PurgeInterval is the time between two removals of old records. 0 means a minute.
	PurgeInterval time.Duration
}

const (
	defaultMaxConns           = 20
	defaultAcquireTimeout     = 10 * time.Second
	defaultStreamStallTimeout = 60 * time.Second
	defaultKeyWait            = 2 * time.Second
	defaultPurgeInterval      = time.Minute
	defaultMaxKeysPerCaller   = 10_000_000
	connectTimeout            = 10 * time.Second
	cancelTimeout             = 2 * time.Second // for the server to answer a cancelled call
	applicationName           = "holdfast-metastore"
)

// errDSN does not hold the reason, which may quote the password.
var errDSN = errors.New("the DSN cannot be parsed; expected postgres://user:password@host:port/database?parameters")

func (o *Options) poolConfig() (*pgxpool.Config, error) {
	dsn := o.DSN
	if rest, ok := strings.CutPrefix(dsn, "pg://"); ok {
		dsn = "postgres://" + rest
	}
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errDSN
	}
	switch {
	case o.MaxConns < 0:
		return nil, fmt.Errorf("max conns is %d; at least 1 is needed", o.MaxConns)
	case o.MaxConns > 0:
		config.MaxConns = o.MaxConns
	case !strings.Contains(dsn, "pool_max_conns"):
		config.MaxConns = defaultMaxConns
	}
	configureSession(config.ConnConfig)
	if o.PreparedStatements {
		// One plan for all calls could be that of a table that was empty then. Proxies may refuse this parameter, but
		// they are not meant to see named statements either.
		config.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_custom_plan"
	}
	return config, nil
}

// configureSession sets what every session of ours has. These parameters are among those that proxies understand.
func configureSession(config *pgx.ConnConfig) {
	config.RuntimeParams["timezone"] = "UTC"
	config.RuntimeParams["application_name"] = applicationName
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.StatementCacheCapacity = 0
	config.DescriptionCacheCapacity = 0
	config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler { return &cancelHandler{conn: conn} }
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
}

func (o *Options) withDefaults(maxConns int32) Options {
	filled := *o
	if filled.Logger == nil {
		filled.Logger = slog.New(slog.DiscardHandler)
	}
	if filled.AcquireTimeout <= 0 {
		filled.AcquireTimeout = defaultAcquireTimeout
	}
	if filled.StreamStallTimeout <= 0 {
		filled.StreamStallTimeout = defaultStreamStallTimeout
	}
	if filled.MaxListings <= 0 {
		filled.MaxListings = max(1, int(maxConns)/2)
	}
	if filled.IdempotencyWindow == (idempotency.Window{}) {
		filled.IdempotencyWindow = idempotency.DefaultWindow()
	}
	if filled.KeyWait <= 0 {
		filled.KeyWait = defaultKeyWait
	}
	if filled.MaxKeysPerCaller <= 0 {
		filled.MaxKeysPerCaller = defaultMaxKeysPerCaller
	}
	if filled.PurgeInterval <= 0 {
		filled.PurgeInterval = defaultPurgeInterval
	}
	filled.MaxConns = maxConns
	return filled
}
