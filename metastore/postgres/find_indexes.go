package postgres

import (
	"bytes"
	"context"
	"fmt"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// IndexMetadata implements metastore.IndexStore.
func (s *Store) IndexMetadata(ctx context.Context, lookup metastore.IndexLookup) (*metastore.IndexMetadata, error) {
	var rows []indexRow
	var err error
	var indexID string
	switch {
	case lookup.IndexUID.Set:
		indexID = lookup.IndexUID.Value.IndexID
		rows, err = s.findIndexes(ctx, []string{lookup.IndexUID.Value.String()}, nil)
	case lookup.IndexID.Set:
		indexID = lookup.IndexID.Value
		rows, err = s.findIndexes(ctx, nil, []string{indexID})
	default:
		return nil, metastore.Internal(nil, "finding an index: neither index_id nor index_uid is set")
	}
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, metastore.NotFound(metastore.IndexEntity(indexID))
	}
	return rows[0].metadata()
}

// IndexesMetadata implements metastore.IndexStore.
func (s *Store) IndexesMetadata(ctx context.Context, lookups []metastore.IndexLookup) ([]*metastore.IndexMetadata, []metastore.IndexLookupFailure, error) {
	var uids, ids []string
	for _, lookup := range lookups {
		switch {
		case lookup.IndexUID.Set:
			uids = append(uids, lookup.IndexUID.Value.String())
		case lookup.IndexID.Set:
			ids = append(ids, lookup.IndexID.Value)
		}
	}
	rows, err := s.findIndexes(ctx, uids, ids)
	if err != nil {
		return nil, nil, err
	}
	byUID, byID := make(map[string]*indexRow, len(rows)), make(map[string]*indexRow, len(rows))
	for i := range rows {
		byUID[rows[i].uid], byID[rows[i].id] = &rows[i], &rows[i]
	}

	var found []*metastore.IndexMetadata
	var failures []metastore.IndexLookupFailure
	answered := make(map[*indexRow]bool, len(rows))
	for _, lookup := range lookups {
		var row *indexRow
		switch {
		case lookup.IndexUID.Set:
			if lookup.IndexID.Set && lookup.IndexID.Value != lookup.IndexUID.Value.IndexID {
				break
			}
			row = byUID[lookup.IndexUID.Value.String()]
		case lookup.IndexID.Set:
			row = byID[lookup.IndexID.Value]
		default:
			failures = append(failures, metastore.IndexLookupFailure{Lookup: lookup})
			continue
		}
		if row == nil {
			failures = append(failures, metastore.IndexLookupFailure{Lookup: lookup, NotFound: true})
			continue
		}
		if answered[row] {
			continue
		}
		metadata, err := row.metadata()
		if err != nil {
			s.log.WarnContext(ctx, "index metadata cannot be read", "index_uid", row.uid, "error", err)
			failures = append(failures, metastore.IndexLookupFailure{Lookup: lookup})
			continue
		}
		answered[row] = true
		found = append(found, metadata)
	}
	return found, failures, nil
}

// ListIndexesMetadata implements metastore.IndexStore. An index that cannot be read fails the call, with its name.
func (s *Store) ListIndexesMetadata(ctx context.Context, patterns *indexconfig.IndexIDPatterns) ([]*metastore.IndexMetadata, error) {
	var indexes []*metastore.IndexMetadata
	err := s.read(ctx, "listing indexes", func() []query {
		indexes = nil
		return []query{{sql: listIndexesSQL, row: func(row columns) error {
			found := indexRow{uid: row.text(0), id: row.text(1), createTimestamp: row.seconds(2), document: bytes.Clone(row[3])}
			if !patterns.Match(found.id) {
				return nil
			}
			metadata, err := found.metadata()
			indexes = append(indexes, metadata)
			return err
		}}}
	})
	if err != nil {
		return nil, err
	}
	return indexes, nil
}

// indexRow is one row of table indexes.
type indexRow struct {
	uid, id         string
	createTimestamp int64
	document        []byte
}

func (r *indexRow) metadata() (*metastore.IndexMetadata, error) {
	return readIndexMetadata(r.uid, r.createTimestamp, r.document)
}

// readIndexMetadata parses a stored document. The create timestamp of the row counts.
func readIndexMetadata(uid string, createTimestamp int64, document []byte) (*metastore.IndexMetadata, error) {
	metadata, err := metastore.ParseIndexMetadata(document)
	if err != nil {
		cause := metastore.AsError(err)
		return nil, metastore.JSONDeserialize(cause.StructName, fmt.Errorf("stored metadata of index %q: %s", uid, cause.Message))
	}
	metadata.CreateTimestamp = createTimestamp
	return metadata, nil
}

// findIndexes reads the indexes of any of the UIDs or ids, in no particular order.
func (s *Store) findIndexes(ctx context.Context, uids, ids []string) ([]indexRow, error) {
	uids, ids = storableTexts(uids), storableTexts(ids)
	if len(uids)+len(ids) == 0 {
		return nil, nil
	}
	var rows []indexRow
	err := s.read(ctx, "finding indexes", func() []query {
		rows = nil
		return []query{{
			sql:  findIndexesSQL,
			args: [][]byte{textArrayArgument(uids), textArrayArgument(ids)},
			row: func(row columns) error {
				rows = append(rows, indexRow{
					uid:             row.text(0),
					id:              row.text(1),
					createTimestamp: row.seconds(2),
					document:        bytes.Clone(row[3]),
				})
				return nil
			},
		}}
	})
	return rows, err
}
