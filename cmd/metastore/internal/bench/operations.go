package bench

import (
	"context"
	"errors"
	"io"
	"strings"

	"holdfast/metastore"
	"holdfast/proto/metastorepb"
)

// call is one measured call, ready to be sent.
type call struct {
	operation string
	// send makes the call and returns how many rows it was about.
	send func(ctx context.Context) (rows int, err error)
}

// nextCall returns the next call of a client; ok is false when there is nothing left to do.
func (t *target) nextCall(c *client) (next call, ok bool) {
	switch t.options.Scenario {
	case Stage:
		return t.stage(c, t.newBatch()), true
	case StageAgain:
		return t.stage(c, t.oldBatch()), true
	case CreateOnly:
		return t.createOnly(c, t.oldBatch()), true
	case Publish:
		batch := (t.nextOld.Add(1) - 1) * uint64(t.options.Batch)
		if batch+uint64(t.options.Batch) > uint64(t.options.Splits) {
			t.exhausted.Store(true)
			return call{}, false
		}
		return t.publish(c, batch), true
	case List:
		return t.list(c, metastore.AllSplits(t.uid)), true
	default:
		return t.mixed(c), true
	}
}

// mixed takes a batch one step further in its life.
func (t *target) mixed(c *client) call {
	step := c.step
	c.step = (c.step + 1) % 5
	switch step {
	case 0:
		c.batch = t.newBatch()
		return t.stage(c, c.batch)
	case 1:
		return t.publish(c, c.batch)
	case 2:
		query := metastore.AllSplits(t.uid)
		query.States = []metastore.SplitState{metastore.Published}
		query.SortBy = metastore.SortByIndexUID
		query.Limit = metastore.Some[uint64](100)
		return t.list(c, query)
	case 3:
		return t.mark(c, c.batch)
	default:
		return t.remove(c, c.batch)
	}
}

// newBatch returns the number of the first split of a batch that was never staged.
func (t *target) newBatch() uint64 {
	return t.nextNew.Add(uint64(t.options.Batch)) - uint64(t.options.Batch)
}

// oldBatch goes round the batches that were staged before the clock started.
func (t *target) oldBatch() uint64 {
	batches := uint64(t.options.Splits / t.options.Batch)
	return (t.nextOld.Add(1) - 1) % batches * uint64(t.options.Batch)
}

func (t *target) stage(c *client, first uint64) call {
	request := &metastorepb.StageSplitsRequest{
		IndexUid:                        t.indexUID,
		SplitMetadataListSerializedJson: t.generator.list(first, t.options.Batch),
	}
	return call{"stage", func(ctx context.Context) (int, error) {
		_, err := c.metastore.StageSplits(ctx, request)
		return t.options.Batch, err
	}}
}

func (t *target) createOnly(c *client, first uint64) call {
	request := &metastorepb.StageSplitsRequest{
		IndexUid:   t.indexUID,
		CreateOnly: true,
		CreateOnlySplitMetadataListSerializedJson: t.generator.list(first, t.options.Batch),
	}
	return call{"create-only", func(ctx context.Context) (int, error) {
		answer, err := c.metastore.StageSplits(ctx, request)
		if err != nil {
			return 0, err
		}
		if !answer.GetCreateOnlyApplied() || len(answer.GetSkippedSplits()) != t.options.Batch {
			return 0, errors.New("the server did not skip the splits that are there")
		}
		return t.options.Batch, nil
	}}
}

func (t *target) publish(c *client, first uint64) call {
	request := &metastorepb.PublishSplitsRequest{IndexUid: t.indexUID, StagedSplitIds: t.generator.ids(first, t.options.Batch)}
	return call{"publish", func(ctx context.Context) (int, error) {
		_, err := c.metastore.PublishSplits(ctx, request)
		return t.options.Batch, err
	}}
}

func (t *target) mark(c *client, first uint64) call {
	request := &metastorepb.MarkSplitsForDeletionRequest{IndexUid: t.indexUID, SplitIds: t.generator.ids(first, t.options.Batch)}
	return call{"mark", func(ctx context.Context) (int, error) {
		_, err := c.metastore.MarkSplitsForDeletion(ctx, request)
		return t.options.Batch, err
	}}
}

func (t *target) remove(c *client, first uint64) call {
	request := &metastorepb.DeleteSplitsRequest{IndexUid: t.indexUID, SplitIds: t.generator.ids(first, t.options.Batch)}
	return call{"delete", func(ctx context.Context) (int, error) {
		_, err := c.metastore.DeleteSplits(ctx, request)
		return t.options.Batch, err
	}}
}

func (t *target) list(c *client, query *metastore.ListSplitsQuery) call {
	request := &metastorepb.ListSplitsRequest{QueryJson: string(query.AppendJSON(nil))}
	return call{"list", func(ctx context.Context) (int, error) {
		stream, err := c.metastore.ListSplits(ctx, request)
		if err != nil {
			return 0, err
		}
		rows := 0
		for {
			chunk, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return rows, nil
			}
			if err != nil {
				return rows, err
			}
			// Counting text costs next to nothing, so that it is the server that is measured. No
			// split of a run holds this text in a value.
			rows += strings.Count(chunk.GetSplitsSerializedJson(), `"split_state":`)
		}
	}}
}
