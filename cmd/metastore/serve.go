package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/node"
	"holdfast/cmd/metastore/internal/openstore"
	"holdfast/cmd/metastore/internal/secrets"
	"holdfast/metastore"
	"holdfast/metastore/rpc"
)

const serveHelp = `Serve a metastore over gRPC until SIGTERM or SIGINT.

The store is where the metadata is kept:

  ./data, file:///dir      a local directory; it is made if it does not exist
  s3://bucket/prefix       a bucket, also gs://bucket/prefix, and azblob://container/prefix
                           or azure://container/prefix; credentials come from the
                           environment, as for the tools of the cloud
  postgres://user@host/db  a PostgreSQL database, also one that Quickwit uses
  mem://                   nowhere: everything is forgotten at the end

Any number of servers may run on one bucket, directory or database.

With --read-only the server answers calls that change something with Forbidden
(PERMISSION_DENIED) and writes nothing. The URL may be that of a PostgreSQL standby.

HTTP answers on three paths: /healthz while the process lives, /readyz while calls should
be sent to it, /metrics for Prometheus. --http "" turns HTTP off.

With --gossip the server is the metastore of a Quickwit cluster, or one of several: nodes find
it by gossip and use it while the store can be reached. Gossip is not authenticated; let only
the nodes of the cluster reach its port.

The first signal turns /readyz and the gRPC health service to not serving, waits until the
nodes of the cluster have stopped sending calls, finishes the calls under way (at most
--drain-timeout) and closes the store. The second signal stops at once; nothing that was
acknowledged is lost by that.`

const serveExample = `  metastore serve
  metastore serve --store s3://my-bucket/metastore?region=eu-central-1
  HOLDFAST_STORE='postgres://metastore:secret@db/metastore' metastore serve --listen 0.0.0.0:7281
  metastore serve --store s3://my-bucket/metastore --listen 10.0.0.7:7281 \
      --gossip 10.0.0.7:7282 --cluster-id logs --peer-seeds indexer-0,indexer-1:7280`

type serveFlags struct {
	openstore.Options
	cluster        clusterFlags
	tls            serverTLSFlags
	idempotency    idempotencyFlags
	listen, http   string
	logs           logFlags
	maxMessageSize byteSize
	maxConcurrent  int
	requestTimeout time.Duration
	drainTimeout   time.Duration
}

func (c *command) serve() *cobra.Command {
	f := &serveFlags{maxMessageSize: rpc.DefaultMaxMessageSize}
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Run a metastore server",
		Long:    serveHelp,
		Example: serveExample,
		Args:    cobra.NoArgs,
		RunE: c.work(func(cmd *cobra.Command, _ []string) error {
			return c.runServe(cmd.Context(), f)
		}),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.URL, "store", "./data", "where the metadata is kept: a directory or a URL, see above")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:7281", "address of the gRPC server")
	flags.StringVar(&f.http, "http", "127.0.0.1:7280", "address of /healthz, /readyz and /metrics; empty: none")
	f.logs.add(flags)
	flags.Var(&f.maxMessageSize, "max-message-size", "the largest message in either direction")
	flags.IntVar(&f.maxConcurrent, "max-concurrent-requests", 512, "calls that run at the same time; more are refused at once")
	flags.DurationVar(&f.requestTimeout, "request-timeout", 30*time.Second, "how long one call may take, streams excepted")
	flags.DurationVar(&f.drainTimeout, "drain-timeout", 30*time.Second, "how long calls under way may take after the first signal")
	flags.BoolVar(&f.ReadOnly, "read-only", false, "refuse every change and write nothing; for a PostgreSQL standby,\nor a directory or bucket that other servers write")
	flags.DurationVar(&f.Refresh, "refresh", 0, "directories and buckets: how old an answer may be with respect\nto the writes of other servers; 0: ask the storage before every read")
	flags.Int32Var(&f.MaxConns, "postgres-max-conns", 0, "PostgreSQL: the most connections; 0: pool_max_conns of the URL, else 20")
	flags.BoolVar(&f.PreparedStatements, "postgres-prepared-statements", false, "PostgreSQL: prepare statements; faster, but not behind a\ntransaction-pooling proxy")
	f.idempotency.add(flags)
	f.tls.add(flags)
	f.cluster.add(flags)
	return cmd
}

func (f *serveFlags) validate() error {
	if err := openstore.Validate(f.URL); err != nil {
		return usagef("--store: %w", err)
	}
	switch {
	case f.listen == "":
		return usagef("--listen is empty, must be HOST:PORT")
	case f.maxMessageSize < rpc.MinMaxMessageSize || f.maxMessageSize > 1<<30:
		return usagef("--max-message-size is %d bytes, must be from %d to %d", f.maxMessageSize, rpc.MinMaxMessageSize, 1<<30)
	case f.maxConcurrent < 1 || f.maxConcurrent > 1<<20:
		return usagef("--max-concurrent-requests is %d, must be from 1 to %d", f.maxConcurrent, 1<<20)
	case f.requestTimeout <= 0:
		return usagef("--request-timeout is %s, must be positive", f.requestTimeout)
	case f.drainTimeout < 0:
		return usagef("--drain-timeout is %s, must not be negative", f.drainTimeout)
	case f.Refresh < 0:
		return usagef("--refresh is %s, must not be negative", f.Refresh)
	case f.MaxConns < 0:
		return usagef("--postgres-max-conns is %d, must not be negative", f.MaxConns)
	}
	if err := f.idempotency.validate(); err != nil {
		return err
	}
	if err := f.cluster.validate(f.listen); err != nil {
		return err
	}
	return f.logs.validate()
}

func (c *command) runServe(ctx context.Context, f *serveFlags) error {
	if err := f.validate(); err != nil {
		return err
	}
	found := secrets.Find(f.URL)
	c.stderr = secrets.NewWriter(c.stderr, found)
	logger := f.logs.logger(c.stderr)
	f.Logger = logger
	f.idempotency.toStore(&f.Options)
	config, err := f.tls.config(logger)
	if err != nil {
		return err
	}
	err = node.Run(ctx, node.Options{
		Open:         func(ctx context.Context) (metastore.Store, error) { return openstore.Open(ctx, f.Options) },
		StoreName:    secrets.MaskURL(f.URL),
		Listen:       f.listen,
		HTTP:         f.http,
		DrainTimeout: f.drainTimeout,
		Logger:       logger,
		Signals:      c.signals,
		Serving:      c.serving,
		Join:         f.cluster.join(logger, config, f.ReadOnly),
		RPC: rpc.ServerOptions{
			Version:               readBuildInfo(c.version).Version,
			MaxMessageSize:        int(f.maxMessageSize),
			MaxConcurrentRequests: f.maxConcurrent,
			RequestTimeout:        f.requestTimeout,
			TLS:                   config,
			Idempotency:           f.idempotency.ofServer(f.ReadOnly),
		},
	})
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	logger.Info("stopped")
	return nil
}
