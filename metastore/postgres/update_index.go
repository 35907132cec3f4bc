package postgres

import (
	"bytes"
	"context"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// UpdateIndex implements metastore.IndexStore.
func (s *Store) UpdateIndex(ctx context.Context, indexUID metastore.IndexUID, update indexconfig.Update) (*metastore.IndexMetadata, error) {
	return s.changeIndex(ctx, "updating an index", indexUID, func(metadata *metastore.IndexMetadata) (*metastore.IndexMetadata, bool, error) {
		config, changed, err := metadata.Config.Update(update)
		if err != nil {
			return nil, false, metastore.InvalidArgument("updating index %q: %s", indexUID.IndexID, err)
		}
		updated := *metadata
		updated.Config = config
		return &updated, changed, nil
	})
}

// changeIndex reads the metadata of an index, has change say what it becomes, and writes that back if change says that
// it differs. The index row is locked from the read to the end. It returns the metadata after the change.
func (s *Store) changeIndex(ctx context.Context, operation string, indexUID metastore.IndexUID, change func(*metastore.IndexMetadata) (updated *metastore.IndexMetadata, changed bool, err error)) (*metastore.IndexMetadata, error) {
	row := lockedIndex{uid: indexUID}
	err := s.changeLocked(ctx, operation, indexUID.IndexID,
		func() []query { return []query{row.lock()} },
		func() (decision, error) {
			if row.metadata == nil {
				return decision{}, metastore.NotFound(metastore.IndexEntity(indexUID.IndexID))
			}
			updated, changed, err := change(row.metadata)
			if err != nil || !changed {
				return decision{}, err
			}
			row.metadata = updated
			return decision{writes: []query{row.write()}}, nil
		})
	if err != nil {
		return nil, err
	}
	return row.metadata, nil
}

// lockedIndex is the row of an index within a transaction that may change its metadata.
type lockedIndex struct {
	uid metastore.IndexUID
	// metadata is nil until the row was read, and if there is none.
	metadata *metastore.IndexMetadata
}

// lock locks the row and reads it.
func (i *lockedIndex) lock() query {
	i.metadata = nil
	return query{sql: selectIndexForUpdateSQL, args: [][]byte{textArgument(i.uid.String())}, row: func(row columns) (err error) {
		i.metadata, err = readIndexMetadata(i.uid.String(), row.seconds(0), bytes.Clone(row[1]))
		return err
	}}
}

// write writes the metadata back.
func (i *lockedIndex) write() query {
	return query{sql: updateIndexSQL, args: [][]byte{textArgument(i.uid.String()), i.metadata.AppendJSON(nil)}}
}
