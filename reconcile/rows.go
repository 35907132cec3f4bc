package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"holdfast/metastore"
	"holdfast/reconcile/lineage"
)

// row is a row of the metastore.
type row struct {
	state     metastore.SplitState
	published bool  // whether it has a publish timestamp
	updated   int64 // by the clock of the metastore, in unix seconds
	metadata  metastore.SplitMetadata
}

// readAttempts is how often a call is tried that does not change anything, or that may be repeated.
const readAttempts = 4

// listRows reads the rows of an index, those of the ids only if any are given. The index UID is
// confirmed first: a listing of an unknown one is empty and no error.
func listRows(ctx context.Context, store metastore.Store, uid metastore.IndexUID, ids ...string) (map[string]row, error) {
	var rows map[string]row
	err := retryRead(ctx, func() error {
		if _, err := store.IndexMetadata(ctx, metastore.IndexLookup{IndexUID: metastore.Some(uid)}); err != nil {
			return err
		}
		rows = make(map[string]row)
		query := metastore.AllSplits(uid)
		query.IncludedSplitIDs = ids
		return store.ListSplits(ctx, query, func(r *metastore.SplitRow) error {
			copied := r.Clone()
			split, err := copied.Split()
			if err != nil {
				return err
			}
			rows[split.Metadata.SplitID] = row{split.State, split.PublishTimestamp.Set, split.UpdateTimestamp, split.Metadata}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list the rows of index %s: %w", uid, err)
	}
	return rows, nil
}

// retryRead repeats a call that changes nothing, or nothing more when it is repeated, while the store is unavailable.
func retryRead(ctx context.Context, call func() error) error {
	for attempt := 1; ; attempt++ {
		err := call()
		if err == nil || attempt == readAttempts || !isTransient(err) {
			return err
		}
		if wait(ctx, pauseAfter(attempt)) != nil {
			return err
		}
	}
}

func isTransient(err error) bool {
	var typed *metastore.Error
	if !errors.As(err, &typed) {
		return false
	}
	switch typed.Kind {
	case metastore.KindUnavailable, metastore.KindTimeout, metastore.KindTooManyRequests, metastore.KindConnection:
		return true
	default:
		return false
	}
}

func pauseAfter(attempt int) time.Duration { return 200 * time.Millisecond << (attempt - 1) }

func wait(ctx context.Context, pause time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}

// lineageRow returns the row as the decision procedure takes it.
func (r *row) lineageRow(id string, object *splitObject, ours bool) lineage.Row {
	return lineage.Row{
		ID: id, State: r.state, PublishTimestampSet: r.published, Ours: ours,
		EqualsObject: object != nil && object.tellsRow() && sameSplit(&r.metadata, &object.metadata),
	}
}

// sameSplit reports whether a row is what recovery writes for an object. Left out are the index UID
// (it may have been given a new incarnation), the create timestamp, which some stores replace, and
// the delete opstamp, which only grows in a metastore. A row may be mature though the file says
// otherwise: recovery writes doubtful splits so.
func sameSplit(row, object *metastore.SplitMetadata) bool {
	return row.SplitID == object.SplitID &&
		row.IndexUID.IndexID == object.IndexUID.IndexID &&
		row.PartitionID == object.PartitionID &&
		row.SourceID == object.SourceID &&
		row.NodeID == object.NodeID &&
		row.NumDocs == object.NumDocs &&
		row.UncompressedDocsSize == object.UncompressedDocsSize &&
		row.TimeRange == object.TimeRange &&
		(row.Maturity == object.Maturity || !row.Maturity.Immature) &&
		slices.Equal(row.Tags, object.Tags) &&
		row.FooterStart == object.FooterStart &&
		row.FooterEnd == object.FooterEnd &&
		row.DeleteOpstamp >= object.DeleteOpstamp &&
		row.NumMergeOps == object.NumMergeOps &&
		row.DocMappingUID == object.DocMappingUID
}
