// Package readonly makes a metastore.Store read-only.
package readonly

import (
	"context"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// Store answers every call that reads from the store that it wraps, and every call that may change something
// with Forbidden, whether it would have changed something or not. The wrapped store must not write of
// its own accord either: open it with its own option ReadOnly.
//
// ClusterIdentity reads: the identity is that of the wrapped store, which refuses to draw one.
type Store struct{ metastore.Store }

var _ metastore.Store = (*Store)(nil)

// New wraps a store, which it closes when it is closed itself.
func New(store metastore.Store) *Store { return &Store{store} }

func refuse(operation string) error {
	return metastore.Forbidden(nil, "%s: this metastore is read-only; ask the one that it follows", operation)
}

// CreateIndex gives Forbidden.
func (*Store) CreateIndex(context.Context, metastore.CreateIndexRequest) (*metastore.IndexMetadata, error) {
	return nil, refuse("creating an index")
}

// UpdateIndex gives Forbidden.
func (*Store) UpdateIndex(context.Context, metastore.IndexUID, indexconfig.Update) (*metastore.IndexMetadata, error) {
	return nil, refuse("updating an index")
}

// DeleteIndex gives Forbidden.
func (*Store) DeleteIndex(context.Context, metastore.IndexUID) error {
	return refuse("deleting an index")
}

// StageSplits gives Forbidden.
func (*Store) StageSplits(context.Context, metastore.StageSplitsRequest) (metastore.StageSplitsResult, error) {
	return metastore.StageSplitsResult{}, refuse("staging splits")
}

// PublishSplits gives Forbidden.
func (*Store) PublishSplits(context.Context, metastore.PublishSplitsRequest) error {
	return refuse("publishing splits")
}

// MarkSplitsForDeletion gives Forbidden.
func (*Store) MarkSplitsForDeletion(context.Context, metastore.IndexUID, []string) error {
	return refuse("marking splits for deletion")
}

// DeleteSplits gives Forbidden.
func (*Store) DeleteSplits(context.Context, metastore.IndexUID, []string) error {
	return refuse("deleting splits")
}

// AddSource gives Forbidden.
func (*Store) AddSource(context.Context, metastore.IndexUID, *indexconfig.SourceConfig) error {
	return refuse("adding a source")
}

// UpdateSource gives Forbidden.
func (*Store) UpdateSource(context.Context, metastore.IndexUID, *indexconfig.SourceConfig) error {
	return refuse("updating a source")
}

// ToggleSource gives Forbidden.
func (*Store) ToggleSource(context.Context, metastore.IndexUID, string, bool) error {
	return refuse("toggling a source")
}

// DeleteSource gives Forbidden.
func (*Store) DeleteSource(context.Context, metastore.IndexUID, string) error {
	return refuse("deleting a source")
}

// ResetSourceCheckpoint gives Forbidden.
func (*Store) ResetSourceCheckpoint(context.Context, metastore.IndexUID, string) error {
	return refuse("resetting the checkpoint of a source")
}

// OpenShards gives Forbidden, also for shards that exist.
func (*Store) OpenShards(context.Context, []metastore.OpenShardSubrequest) ([]metastore.Shard, error) {
	return nil, refuse("opening shards")
}

// AcquireShards gives Forbidden.
func (*Store) AcquireShards(context.Context, metastore.AcquireShardsRequest) ([]metastore.Shard, error) {
	return nil, refuse("acquiring shards")
}

// DeleteShards gives Forbidden.
func (*Store) DeleteShards(context.Context, metastore.DeleteShardsRequest) (metastore.DeleteShardsResult, error) {
	return metastore.DeleteShardsResult{}, refuse("deleting shards")
}

// PruneShards gives Forbidden.
func (*Store) PruneShards(context.Context, metastore.PruneShardsRequest) error {
	return refuse("pruning shards")
}

// CreateDeleteTask gives Forbidden.
func (*Store) CreateDeleteTask(context.Context, metastore.DeleteQuery) (metastore.DeleteTask, error) {
	return metastore.DeleteTask{}, refuse("creating a delete task")
}

// RaiseDeleteOpstampFloor gives Forbidden.
func (*Store) RaiseDeleteOpstampFloor(context.Context, metastore.IndexUID, uint64) error {
	return refuse("raising the delete opstamp floor")
}

// UpdateSplitsDeleteOpstamp gives Forbidden.
func (*Store) UpdateSplitsDeleteOpstamp(context.Context, metastore.IndexUID, []string, uint64) error {
	return refuse("updating the delete opstamp of splits")
}

// StageParquetSplits gives Forbidden.
func (*Store) StageParquetSplits(_ context.Context, kind metastore.ParquetKind, _ metastore.IndexUID, _ []metastore.ParquetSplitMetadata) error {
	return refuse("staging splits of the kind " + kind.String())
}

// PublishParquetSplits gives Forbidden.
func (*Store) PublishParquetSplits(_ context.Context, kind metastore.ParquetKind, _ metastore.PublishSplitsRequest) error {
	return refuse("publishing splits of the kind " + kind.String())
}

// MarkParquetSplitsForDeletion gives Forbidden.
func (*Store) MarkParquetSplitsForDeletion(_ context.Context, kind metastore.ParquetKind, _ metastore.IndexUID, _ []string) error {
	return refuse("marking splits of the kind " + kind.String() + " for deletion")
}

// DeleteParquetSplits gives Forbidden.
func (*Store) DeleteParquetSplits(_ context.Context, kind metastore.ParquetKind, _ metastore.IndexUID, _ []string) error {
	return refuse("deleting splits of the kind " + kind.String())
}

// CreateIndexTemplate gives Forbidden.
func (*Store) CreateIndexTemplate(context.Context, *indexconfig.IndexTemplate, bool) error {
	return refuse("creating an index template")
}

// DeleteIndexTemplates gives Forbidden.
func (*Store) DeleteIndexTemplates(context.Context, []string) error {
	return refuse("deleting index templates")
}
