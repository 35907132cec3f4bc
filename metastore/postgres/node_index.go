package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"holdfast/metastore"
)

const (
	nodeIndexName     = "splits_node_id_idx"
	maturityIndexName = "splits_maturity_timestamp_idx"

	// The names under which the replacement is built, and the replaced index waits to be dropped.
	newNodeIndexName = "splits_node_id_idx_holdfast_new"
	oldNodeIndexName = "splits_node_id_idx_holdfast_old"
)

// splitsIndexList holds the indexes of table splits.
type splitsIndexList []splitsIndex

type splitsIndex struct {
	IndexReport
	definition string
}

func splitsIndexes(ctx context.Context, conn *pgx.Conn) (splitsIndexList, error) {
	rows, err := conn.Query(ctx, splitsIndexesSQL)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (splitsIndex, error) {
		var index splitsIndex
		err := row.Scan(&index.Name, &index.Method, &index.Valid, &index.definition)
		return index, err
	})
}

// find returns the index of that name; its method is empty if there is none.
func (l splitsIndexList) find(name string) IndexReport {
	for _, index := range l {
		if index.Name == name {
			return index.IndexReport
		}
	}
	return IndexReport{Name: name}
}

// leftovers are what an interrupted replacement left behind.
func (l splitsIndexList) leftovers() []string {
	var names []string
	for _, name := range []string{newNodeIndexName, oldNodeIndexName} {
		if l.find(name).Method != "" {
			names = append(names, name)
		}
	}
	return names
}

// isUsable reports whether the index of that name is a valid btree on the node id alone.
func (l splitsIndexList) isUsable(name string) bool {
	for _, index := range l {
		if index.Name == name {
			return index.Valid && index.Method == "btree" && strings.HasSuffix(index.definition, "(node_id)")
		}
	}
	return false
}

// replaceNodeIndex makes the index on the node id a btree. No step locks out readers or writers: the new index is built
// concurrently, the two names are exchanged under a lock that only other changes of the schema heed, and the
// old index is dropped concurrently. Each step can be the last of an interrupted run; the next run starts
// from what it finds.
func replaceNodeIndex(ctx context.Context, conn *pgx.Conn) (replaced bool, err error) {
	unlock, err := lockDeferred(ctx, conn)
	if err != nil {
		return false, err
	}
	defer unlock()
	indexes, err := splitsIndexes(ctx, conn)
	if err != nil {
		return false, err
	}
	if !indexes.isUsable(nodeIndexName) {
		if err := buildNodeIndex(ctx, conn, indexes); err != nil {
			return false, err
		}
		if err := exchangeNodeIndex(ctx, conn); err != nil {
			return false, err
		}
		replaced = true
	}
	for _, name := range []string{newNodeIndexName, oldNodeIndexName} {
		if _, err := conn.Exec(ctx, "DROP INDEX CONCURRENTLY IF EXISTS "+name); err != nil {
			return replaced, err
		}
	}
	return replaced, nil
}

// lockDeferred takes the lock under which the peer builds indexes. It does not wait for it: a session
// that waits keeps CREATE INDEX CONCURRENTLY of the holder from ever ending.
func lockDeferred(ctx context.Context, conn *pgx.Conn) (unlock func(), err error) {
	var locked bool
	if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1::int, $2::int)", int32(deferredLockFirst), int32(deferredLockSecond)).Scan(&locked); err != nil {
		return nil, err
	}
	if !locked {
		return nil, metastore.FailedPrecondition(metastore.Entity{}, "another process is building indexes on this database, try again when it is done")
	}
	return func() {
		// The end of the connection, which follows, frees the lock as well.
		_, _ = conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1::int, $2::int)", int32(deferredLockFirst), int32(deferredLockSecond))
	}, nil
}

func buildNodeIndex(ctx context.Context, conn *pgx.Conn, indexes splitsIndexList) error {
	if indexes.isUsable(newNodeIndexName) {
		return nil
	}
	// One that an interrupted run left is invalid and cannot be completed.
	if _, err := conn.Exec(ctx, "DROP INDEX CONCURRENTLY IF EXISTS "+newNodeIndexName); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "CREATE INDEX CONCURRENTLY "+newNodeIndexName+" ON splits USING btree (node_id)"); err != nil {
		return err
	}
	indexes, err := splitsIndexes(ctx, conn)
	if err != nil {
		return err
	}
	if !indexes.isUsable(newNodeIndexName) {
		return fmt.Errorf("the new index %s is not valid", newNodeIndexName)
	}
	return nil
}

func exchangeNodeIndex(ctx context.Context, conn *pgx.Conn) error {
	// An old one left over means that a run was interrupted after an earlier exchange.
	if _, err := conn.Exec(ctx, "DROP INDEX CONCURRENTLY IF EXISTS "+oldNodeIndexName); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "ALTER INDEX IF EXISTS "+nodeIndexName+" RENAME TO "+oldNodeIndexName); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "ALTER INDEX "+newNodeIndexName+" RENAME TO "+nodeIndexName)
		return err
	})
}
