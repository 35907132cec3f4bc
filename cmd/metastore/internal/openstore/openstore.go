// Package openstore opens the store that a URL names.
package openstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"holdfast/metastore"
	"holdfast/metastore/file"
	"holdfast/metastore/idempotency"
	"holdfast/metastore/postgres"
	"holdfast/metastore/readonly"
)

// Options names a store and says how it behaves.
type Options struct {
	// URL is a directory, file:///dir, s3://, gs://, azblob://, azure://, mem:// or postgres://.
	URL    string
	Logger *slog.Logger

	// ReadOnly opens a store that refuses every change with Forbidden and writes nothing.
	ReadOnly bool

	// NoIdempotencyKeys is for PostgreSQL: keep no records of idempotency keys.
	NoIdempotencyKeys bool
	// IdempotencyWindow says how long records of idempotency keys are kept. The zero value means the default.
	IdempotencyWindow idempotency.Window
	// MaxIdempotencyKeys bounds the records of one caller on PostgreSQL, and those of one index in file stores. 0
	// means the default of the store.
	MaxIdempotencyKeys int64

	// Refresh is for file stores: how old an answer may be with respect to the writes of other
	// processes. 0 means to ask the storage before every read.
	Refresh time.Duration

	// MaxConns is for PostgreSQL: the most connections. 0 means the default.
	MaxConns int32
	// PreparedStatements is for PostgreSQL: whether to prepare statements by name.
	PreparedStatements bool
}

// IsPostgres reports whether a URL names a PostgreSQL database.
func IsPostgres(url string) bool {
	for _, scheme := range []string{"postgres://", "postgresql://", "pg://"} {
		if strings.HasPrefix(url, scheme) {
			return true
		}
	}
	return false
}

// Validate says what is wrong with a store URL, without its text.
func Validate(url string) error {
	if url == "" {
		return errors.New("the store is empty, must be a directory or a URL")
	}
	scheme, _, found := strings.Cut(url, "://")
	if !found || IsPostgres(url) {
		return nil
	}
	switch scheme {
	case "file", "s3", "gs", "azblob", "azure", "mem":
		return nil
	}
	return fmt.Errorf("the store has the unknown scheme %.20q, must be a directory, file://, s3://, gs://, azblob://, azure://, mem:// or postgres://", scheme)
}

// Open opens the store.
func Open(ctx context.Context, options Options) (metastore.Store, error) {
	if err := Validate(options.URL); err != nil {
		return nil, err
	}
	store, err := open(ctx, options)
	if err == nil && options.ReadOnly {
		store = readonly.New(store)
	}
	return store, err
}

func open(ctx context.Context, options Options) (metastore.Store, error) {
	// A nil pointer to a store must not become a Store that is not nil.
	if IsPostgres(options.URL) {
		store, err := postgres.Open(ctx, postgres.Options{
			DSN:                options.URL,
			Logger:             options.Logger,
			MaxConns:           options.MaxConns,
			PreparedStatements: options.PreparedStatements,
			ReadOnly:           options.ReadOnly,
			NoIdempotencyKeys:  options.NoIdempotencyKeys,
			IdempotencyWindow:  options.IdempotencyWindow,
			MaxKeysPerCaller:   options.MaxIdempotencyKeys,
		})
		if err != nil {
			return nil, err
		}
		return store, nil
	}
	store, err := file.Open(ctx, file.Options{
		URL:                   options.URL,
		Logger:                options.Logger,
		Refresh:               options.Refresh,
		ReadOnly:              options.ReadOnly,
		IdempotencyWindow:     options.IdempotencyWindow,
		MaxIdempotencyRecords: int(options.MaxIdempotencyKeys),
	})
	if err != nil {
		return nil, err
	}
	return store, nil
}
