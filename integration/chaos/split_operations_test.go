package chaos

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
)

// maxSplits bounds the splits of each kind that a client keeps at once.
const maxSplits = 100

func splitOperations() []operation {
	return []operation{
		{8, func(c *client, ctx context.Context) (bool, error) {
			if len(c.own.splits) > maxSplits {
				return false, nil
			}
			ids := []string{c.newID(), c.newID()}
			return true, c.stage(ctx, c.own, ids[:1+c.random.IntN(2)]...)
		}},
		{3, (*client).restage},
		{4, (*client).stageCreateOnly},
		{7, (*client).publishSome},
		{4, (*client).replaceSome},
		{5, (*client).markSome},
		{5, (*client).deleteSome},
		{4, (*client).updateOpstamps},
	}
}

func stateIs(state metastore.SplitState) func(split) bool {
	return func(s split) bool { return s.state == state }
}

// some returns up to three splits of the client's index in a state.
func (c *client) some(state metastore.SplitState) []string {
	return c.pick(inState(c.own.splits, stateIs(state)), 1+c.random.IntN(3))
}

// payloadCreated is when splits were created, as their documents say.
const payloadCreated = 1_700_000_000

func splitMetadata(id string, docs uint64) metastore.SplitMetadata {
	return metastore.SplitMetadata{
		SplitID: id, SourceID: queueSource, NodeID: "node", NumDocs: docs, UncompressedDocsSize: 100 * docs, CreateTimestamp: payloadCreated, FooterStart: 10, FooterEnd: 20 + docs,
		PartitionID: math.MaxUint64 - docs, TimeRange: metastore.Some(metastore.TimeRange{Start: -int64(docs), End: int64(docs)}), NumMergeOps: docs % 3,
		Maturity: metastore.Maturity{Immature: docs%2 == 1, PeriodMillis: 1000 * docs * (docs % 2)}, Tags: []string{"id:" + id, "tenant!"}, DocMappingUID: docMappingOf(id),
	}
}

// docMappingOf is the UID of a doc mapping that follows from the id of a split or shard.
func docMappingOf(id string) (uid ulid.ULID) {
	copy(uid[:], id[max(0, len(id)-len(uid)):])
	uid[0] &= 0x7f
	return uid
}

// stage stages splits that are absent or staged, each with one document more than before.
func (c *client) stage(ctx context.Context, x *index, ids ...string) error {
	request := metastore.StageSplitsRequest{IndexUID: x.uid}
	for _, id := range ids {
		s := split{state: metastore.Staged, docs: x.splits[id].docs + 1}
		x.splits[id] = s
		request.Splits = append(request.Splits, splitMetadata(id, s.docs))
	}
	_, err := c.must(ctx, "stage splits", func(ctx context.Context, store metastore.Store) error {
		_, err := store.StageSplits(ctx, request)
		return err
	})
	return err
}

func (c *client) restage(ctx context.Context) (bool, error) {
	ids := c.some(metastore.Staged)
	if len(ids) == 0 {
		return false, nil
	}
	return true, c.stage(ctx, c.own, ids...)
}

// stageCreateOnly stages a new split together with others, which must be left alone.
func (c *client) stageCreateOnly(ctx context.Context) (bool, error) {
	if len(c.own.splits) > maxSplits {
		return false, nil
	}
	fresh := c.newID()
	existing := c.pick(sortedIDs(c.own.splits), c.random.IntN(3))
	request := metastore.StageSplitsRequest{IndexUID: c.own.uid, CreateOnly: true, Splits: []metastore.SplitMetadata{splitMetadata(fresh, 1)}}
	for _, id := range existing {
		request.Splits = append(request.Splits, splitMetadata(id, 1_000_000))
	}
	var result metastore.StageSplitsResult
	replayed, err := c.must(ctx, "stage splits create-only", func(ctx context.Context, store metastore.Store) (err error) {
		result, err = store.StageSplits(ctx, request)
		return err
	})
	if err != nil {
		return true, err
	}
	c.own.splits[fresh] = split{state: metastore.Staged, docs: 1}
	wantStaged, wantSkipped := []string{fresh}, existing
	if replayed {
		wantStaged, wantSkipped = nil, append(existing, fresh)
	}
	slices.Sort(wantSkipped)
	skipped := make([]string, len(result.Skipped))
	for i, s := range result.Skipped {
		skipped[i] = s.SplitID
		if s.State != c.own.splits[s.SplitID].state {
			return true, fmt.Errorf("stage splits create-only: skipped %s as %s, want %s", s.SplitID, s.State, c.own.splits[s.SplitID].state)
		}
	}
	if !slices.Equal(result.Staged, wantStaged) || !slices.Equal(skipped, wantSkipped) {
		return true, fmt.Errorf("stage splits create-only, replayed %v: staged %v and skipped %v, want %v and %v", replayed, result.Staged, skipped, wantStaged, wantSkipped)
	}
	return true, nil
}

// publish publishes staged splits with progress in a partition, none if it is empty, and marks published ones.
func (c *client) publish(ctx context.Context, x *index, staged, replaced []string, partition string) error {
	request := metastore.PublishSplitsRequest{IndexUID: x.uid, StagedSplitIDs: staged, ReplacedSplitIDs: replaced}
	x.move(metastore.Published, staged...)
	x.move(metastore.MarkedForDeletion, replaced...)
	if partition != "" {
		from := x.checkpoints[queueSource][partition]
		to := from + 1 + c.random.IntN(5)
		x.publish(partition, to)
		request.Delta = &metastore.CheckpointDelta{SourceID: queueSource, Partitions: map[string]metastore.PartitionDelta{partition: {From: position(from), To: position(to)}}}
	}
	_, err := c.must(ctx, "publish splits", func(ctx context.Context, store metastore.Store) error {
		return store.PublishSplits(ctx, request)
	})
	return err
}

func (c *client) publishSome(ctx context.Context) (bool, error) {
	staged := c.some(metastore.Staged)
	if len(staged) == 0 {
		return false, nil
	}
	return true, c.publish(ctx, c.own, staged, nil, fmt.Sprintf("%s-%d", c.name, c.random.IntN(3)))
}

func (c *client) replaceSome(ctx context.Context) (bool, error) {
	staged, published := c.some(metastore.Staged), c.some(metastore.Published)
	if len(staged) == 0 || len(published) == 0 {
		return false, nil
	}
	return true, c.publish(ctx, c.own, staged, published, "")
}

func (c *client) markSome(ctx context.Context) (bool, error) {
	ids := append(c.some(metastore.Staged), c.some(metastore.Published)...)
	if len(ids) == 0 {
		return false, nil
	}
	c.own.move(metastore.MarkedForDeletion, ids...)
	_, err := c.must(ctx, "mark splits for deletion", func(ctx context.Context, store metastore.Store) error {
		return store.MarkSplitsForDeletion(ctx, c.own.uid, ids)
	})
	return true, err
}

func (c *client) deleteSome(ctx context.Context) (bool, error) {
	ids := c.some(metastore.MarkedForDeletion)
	if len(ids) == 0 {
		return false, nil
	}
	for _, id := range ids {
		delete(c.own.splits, id)
	}
	_, err := c.must(ctx, "delete splits", func(ctx context.Context, store metastore.Store) error {
		return store.DeleteSplits(ctx, c.own.uid, ids)
	})
	return true, err
}

func (c *client) updateOpstamps(ctx context.Context) (bool, error) {
	ids := c.some(metastore.Published)
	if len(ids) == 0 {
		return false, nil
	}
	c.made++
	opstamp := uint64(c.made)
	for _, id := range ids {
		s := c.own.splits[id]
		s.opstamp = opstamp
		c.own.splits[id] = s
	}
	_, err := c.must(ctx, "update delete opstamps", func(ctx context.Context, store metastore.Store) error {
		return store.UpdateSplitsDeleteOpstamp(ctx, c.own.uid, ids, opstamp)
	})
	return true, err
}
