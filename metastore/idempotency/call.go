package idempotency

import (
	"context"
	"errors"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// Call is one mutating call with a key, as a store: the method that it is about executes once, and
// answers a repetition from the current state as far as the answer depends on it, and otherwise as the
// first time. A repetition never changes anything. Reading methods are those of the store.
//
// The request of a repetition is that of the first call, because the fingerprint says so.
type Call struct {
	metastore.Store
	keyed  metastore.Store
	record Record

	replayed, gone bool
}

// NewCall returns the call that commits the record in a store.
func NewCall(store Store, record Record) *Call {
	return &Call{Store: store, keyed: store.WithRecord(record), record: record}
}

// Replayed reports whether the call had been executed before.
func (c *Call) Replayed() bool { return c.replayed }

// ResourceGone reports whether what a repetition answers about does not exist any more.
func (c *Call) ResourceGone() bool { return c.gone }

// again returns the record if err says that the call was executed before, and err otherwise.
func (c *Call) again(err error) (*Record, error) {
	var replayed *Replayed
	if errors.As(err, &replayed) {
		c.replayed = true
		return &replayed.Record, nil
	}
	return nil, err
}

// silent is the end of a call that answers nothing.
func (c *Call) silent(err error) error {
	_, err = c.again(err)
	return err
}

// resultGone says that what the call answered cannot be known any more.
func resultGone(what string) error {
	return &Error{Reason: ResultGone, Message: "the call was executed, and " + what + " does not exist any more; nothing was changed now",
		Metadata: map[string]string{"originalStatus": "OK", "resource": what}}
}

// CreateIndex implements metastore.IndexStore. The incarnation follows from the key, unless the request
// names it. If the index was deleted since, the answer is what it was when it was created.
func (c *Call) CreateIndex(ctx context.Context, request metastore.CreateIndexRequest) (*metastore.IndexMetadata, error) {
	if !request.Incarnation.Set {
		request.Incarnation = metastore.Some(c.record.Key.ULID(c.record.Principal, "index "+request.Config.IndexID))
	}
	index, err := c.keyed.CreateIndex(ctx, request)
	record, err := c.again(err)
	if record == nil {
		return index, err
	}
	uid := metastore.IndexUID{IndexID: request.Config.IndexID, Incarnation: request.Incarnation.Value}
	index, err = c.Store.IndexMetadata(ctx, metastore.IndexLookup{IndexUID: metastore.Some(uid)})
	if errors.Is(err, metastore.ErrNotFound) {
		c.gone = true
		return metastore.NewIndexMetadata(uid, request, record.CreateTimestamp), nil
	}
	return index, err
}

// UpdateIndex implements metastore.IndexStore.
func (c *Call) UpdateIndex(ctx context.Context, indexUID metastore.IndexUID, update indexconfig.Update) (*metastore.IndexMetadata, error) {
	index, err := c.keyed.UpdateIndex(ctx, indexUID, update)
	record, err := c.again(err)
	if record == nil {
		return index, err
	}
	index, err = c.Store.IndexMetadata(ctx, metastore.IndexLookup{IndexUID: metastore.Some(indexUID)})
	if errors.Is(err, metastore.ErrNotFound) {
		return nil, resultGone("index " + indexUID.String())
	}
	return index, err
}

// DeleteIndex implements metastore.IndexStore.
func (c *Call) DeleteIndex(ctx context.Context, indexUID metastore.IndexUID) error {
	return c.silent(c.keyed.DeleteIndex(ctx, indexUID))
}

// AddSource implements metastore.SourceStore.
func (c *Call) AddSource(ctx context.Context, indexUID metastore.IndexUID, source *indexconfig.SourceConfig) error {
	return c.silent(c.keyed.AddSource(ctx, indexUID, source))
}

// UpdateSource implements metastore.SourceStore.
func (c *Call) UpdateSource(ctx context.Context, indexUID metastore.IndexUID, source *indexconfig.SourceConfig) error {
	return c.silent(c.keyed.UpdateSource(ctx, indexUID, source))
}

// ToggleSource implements metastore.SourceStore.
func (c *Call) ToggleSource(ctx context.Context, indexUID metastore.IndexUID, sourceID string, enabled bool) error {
	return c.silent(c.keyed.ToggleSource(ctx, indexUID, sourceID, enabled))
}

// DeleteSource implements metastore.SourceStore.
func (c *Call) DeleteSource(ctx context.Context, indexUID metastore.IndexUID, sourceID string) error {
	return c.silent(c.keyed.DeleteSource(ctx, indexUID, sourceID))
}

// ResetSourceCheckpoint implements metastore.SourceStore.
func (c *Call) ResetSourceCheckpoint(ctx context.Context, indexUID metastore.IndexUID, sourceID string) error {
	return c.silent(c.keyed.ResetSourceCheckpoint(ctx, indexUID, sourceID))
}

// StageSplits implements metastore.SplitStore. A repetition in create-only mode reports the splits that
// exist as skipped, whoever staged them; those that were deleted since are not reported.
func (c *Call) StageSplits(ctx context.Context, request metastore.StageSplitsRequest) (metastore.StageSplitsResult, error) {
	result, err := c.keyed.StageSplits(ctx, request)
	record, err := c.again(err)
	if record == nil || !request.CreateOnly {
		return result, err
	}
	return c.skipped(ctx, request)
}

func (c *Call) skipped(ctx context.Context, request metastore.StageSplitsRequest) (result metastore.StageSplitsResult, err error) {
	query := metastore.AllSplits(request.IndexUID)
	query.SortBy = metastore.SortByIndexUID
	for i := range request.Splits {
		query.IncludedSplitIDs = append(query.IncludedSplitIDs, request.Splits[i].SplitID)
	}
	if len(query.IncludedSplitIDs) == 0 {
		return result, nil
	}
	err = c.Store.ListSplits(ctx, query, func(row *metastore.SplitRow) error {
		split, err := row.Split()
		if err == nil {
			result.Skipped = append(result.Skipped, metastore.SkippedSplit{SplitID: split.Metadata.SplitID, State: split.State})
		}
		return err
	})
	return result, err
}

// PublishSplits implements metastore.SplitStore.
func (c *Call) PublishSplits(ctx context.Context, request metastore.PublishSplitsRequest) error {
	return c.silent(c.keyed.PublishSplits(ctx, request))
}

// MarkSplitsForDeletion implements metastore.SplitStore.
func (c *Call) MarkSplitsForDeletion(ctx context.Context, indexUID metastore.IndexUID, splitIDs []string) error {
	return c.silent(c.keyed.MarkSplitsForDeletion(ctx, indexUID, splitIDs))
}

// DeleteSplits implements metastore.SplitStore.
func (c *Call) DeleteSplits(ctx context.Context, indexUID metastore.IndexUID, splitIDs []string) error {
	return c.silent(c.keyed.DeleteSplits(ctx, indexUID, splitIDs))
}

// StageParquetSplits implements metastore.ParquetSplitStore.
func (c *Call) StageParquetSplits(ctx context.Context, kind metastore.ParquetKind, indexUID metastore.IndexUID, splits []metastore.ParquetSplitMetadata) error {
	return c.silent(c.keyed.StageParquetSplits(ctx, kind, indexUID, splits))
}

// PublishParquetSplits implements metastore.ParquetSplitStore.
func (c *Call) PublishParquetSplits(ctx context.Context, kind metastore.ParquetKind, request metastore.PublishSplitsRequest) error {
	return c.silent(c.keyed.PublishParquetSplits(ctx, kind, request))
}

// MarkParquetSplitsForDeletion implements metastore.ParquetSplitStore.
func (c *Call) MarkParquetSplitsForDeletion(ctx context.Context, kind metastore.ParquetKind, indexUID metastore.IndexUID, splitIDs []string) error {
	return c.silent(c.keyed.MarkParquetSplitsForDeletion(ctx, kind, indexUID, splitIDs))
}

// DeleteParquetSplits implements metastore.ParquetSplitStore.
func (c *Call) DeleteParquetSplits(ctx context.Context, kind metastore.ParquetKind, indexUID metastore.IndexUID, splitIDs []string) error {
	return c.silent(c.keyed.DeleteParquetSplits(ctx, kind, indexUID, splitIDs))
}

// CreateIndexTemplate implements metastore.IndexTemplateStore.
func (c *Call) CreateIndexTemplate(ctx context.Context, template *indexconfig.IndexTemplate, overwrite bool) error {
	return c.silent(c.keyed.CreateIndexTemplate(ctx, template, overwrite))
}

// DeleteIndexTemplates implements metastore.IndexTemplateStore.
func (c *Call) DeleteIndexTemplates(ctx context.Context, templateIDs []string) error {
	return c.silent(c.keyed.DeleteIndexTemplates(ctx, templateIDs))
}
