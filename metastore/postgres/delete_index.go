package postgres

import (
	"context"

	"holdfast/metastore"
)

// DeleteIndex implements metastore.IndexStore.
func (s *Store) DeleteIndex(ctx context.Context, indexUID metastore.IndexUID) error {
	uid := [][]byte{textArgument(indexUID.String())}
	var deleted int64
	return s.mutateIf(ctx, "deleting an index", indexUID.IndexID, func() []query {
		return []query{
			// Whoever adds a delete task locks the table before the index row, and RaiseDeleteOpstampFloor may be waiting for
			// that one: behind both, with the index row, this call would hold up all three until PostgreSQL finds out.
			{sql: lockTasksToDeleteSQL},
			{sql: lockWholeIndexSQL, args: uid},
			{sql: lockShardsOfIndexSQL, args: uid},
			// Our own writers are gone once the index row is locked. The peer's do not lock it first, so
			// the rows that the deletion takes with it are locked in order too.
			{sql: lockSplitsOfIndexSQL, args: uid},
			{sql: lockMetricsSplitsOfIndexSQL, args: uid},
			{sql: lockSketchSplitsOfIndexSQL, args: uid},
			{sql: deleteMetricsSplitsOfIndexSQL, args: uid},
			{sql: deleteIndexSQL, args: uid, affected: &deleted},
		}
	}, func() error {
		if deleted == 0 {
			return metastore.NotFound(metastore.IndexEntity(indexUID.IndexID))
		}
		return nil
	})
}
