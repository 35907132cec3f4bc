package postgres

import (
	"bytes"
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// UpdateIndex implements metastore.IndexStore.
func (s *Store) UpdateIndex(ctx context.Context, indexUID metastore.IndexUID, update indexconfig.Update) (*metastore.IndexMetadata, error) {
	return s.changeIndex(ctx, "updating an index", indexUID, func(metadata *metastore.IndexMetadata) (bool, error) {
		config, changed, err := metadata.Config.Update(update)
		if err != nil {
			return false, metastore.InvalidArgument("updating index %q: %s", indexUID.IndexID, err)
		}
		metadata.Config = config
		return changed, nil
	})
}

// changeIndex reads the metadata of an index, has change alter it, and writes it back if change says that it did. The
// index row is locked from the read to the end. It returns the metadata after the change.
func (s *Store) changeIndex(ctx context.Context, operation string, indexUID metastore.IndexUID, change func(*metastore.IndexMetadata) (changed bool, err error)) (*metastore.IndexMetadata, error) {
	if err := s.refuseReadOnly(operation); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		metadata, err := s.tryChangeIndex(ctx, indexUID, change)
		if err == nil {
			return metadata, nil
		}
		if attempt == maxAttempts || ctx.Err() != nil || !isAborted(err) {
			return nil, failure(ctx, operation, indexUID.IndexID, err)
		}
		if err := pause(ctx, attempt); err != nil {
			return nil, failure(ctx, operation, indexUID.IndexID, err)
		}
	}
}

func (s *Store) tryChangeIndex(ctx context.Context, indexUID metastore.IndexUID, change func(*metastore.IndexMetadata) (bool, error)) (*metastore.IndexMetadata, error) {
	conn, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	// A connection whose transaction is still open is not reused but closed, which undoes the transaction.
	defer release(ctx, conn)

	uid := textArgument(indexUID.String())
	var metadata *metastore.IndexMetadata
	err = s.send(ctx, conn, []query{
		{sql: "BEGIN ISOLATION LEVEL READ COMMITTED"},
		{sql: selectIndexForUpdateSQL, args: [][]byte{uid}, row: func(row columns) error {
			var err error
			metadata, err = readIndexMetadata(indexUID.String(), row.seconds(0), bytes.Clone(row[1]))
			return err
		}},
	})
	if err == nil && metadata == nil {
		err = metastore.NotFound(metastore.IndexEntity(indexUID.IndexID))
	}
	if err != nil {
		return nil, errors.Join(err, s.rollback(ctx, conn))
	}
	changed, err := change(metadata)
	if err != nil || !changed {
		return metadata, errors.Join(err, s.rollback(ctx, conn))
	}
	return metadata, s.send(ctx, conn, []query{
		{sql: updateIndexSQL, args: [][]byte{uid, metadata.AppendJSON(nil)}},
		{sql: "COMMIT"},
	})
}

// rollback ends a transaction in which nothing was written.
func (s *Store) rollback(ctx context.Context, conn *pgxpool.Conn) error {
	if conn.Conn().PgConn().TxStatus() == 'I' || conn.Conn().IsClosed() {
		return nil
	}
	return s.send(ctx, conn, []query{{sql: "ROLLBACK"}})
}
