package chaos

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

const (
	sharedIndex  = "shared"
	ingestSource = "_ingest-source"
	queueSource  = "queue"
)

// client makes calls about what it owns, one after the other, so that each has one right answer.
//
// A refusal leaves no record, and an attempt that was cut off may be executed when its call has long been refused.
// So all refusals that a client provokes are of calls that would be refused at any later time too, and all its other
// calls change something.
type client struct {
	*caller
	name   string
	random *rand.Rand
	made   int // how many ids were made

	own       *index // nil while it does not exist
	gone      metastore.IndexUID
	shared    *index            // this client's part
	templates map[string]uint64 // priorities by id
}

// newID makes an id that was never used.
func (c *client) newID() string {
	c.made++
	return fmt.Sprintf("%s-%06d", c.name, c.made)
}

// pick returns up to n of the ids.
func (c *client) pick(ids []string, n int) []string {
	ids = slices.Clone(ids)
	c.random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids[:min(n, len(ids))]
}

// must makes a call that has to succeed.
func (c *client) must(ctx context.Context, about string, do func(ctx context.Context, store metastore.Store) error) (replayed bool, err error) {
	told, err := c.call(ctx, about, do)
	if err != nil {
		return false, fmt.Errorf("%s: %w", about, err)
	}
	return told.Replayed, nil
}

// refused makes a call that has to fail in this way.
func (c *client) refused(ctx context.Context, about string, want *metastore.Error, do func(ctx context.Context, store metastore.Store) error) error {
	_, err := c.call(ctx, about, do)
	if got := metastore.AsError(err); got == nil || got.Kind != want.Kind || got.Entity.Kind != want.Entity.Kind {
		return fmt.Errorf("%s: answered %v, want %v", about, err, want)
	}
	return nil
}

// run makes calls until the client has made so many.
func (c *client) run(ctx context.Context, calls int) error {
	if err := c.settle(ctx); err != nil {
		return err
	}
	all := operations()
	total := 0
	for _, o := range all {
		total += o.weight
	}
	for range calls {
		if c.own == nil {
			if err := c.createIndex(ctx); err != nil {
				return err
			}
			continue
		}
		for made := false; !made; {
			drawn, at := c.random.IntN(total), 0
			for ; drawn >= all[at].weight; at++ {
				drawn -= all[at].weight
			}
			var err error
			if made, err = all[at].run(c, ctx); err != nil {
				return err
			}
		}
	}
	if c.own == nil {
		return c.createIndex(ctx)
	}
	return nil
}

func indexConfig(id string) (metastore.CreateIndexRequest, error) {
	const mapping = `{"doc_mapping_uid":"01J9ZJX0M3N4P5Q6R7S8T9V0W1","field_mappings":[{"name":"at","type":"datetime","fast":true}],"timestamp_field":"at"}`
	config, err := indexconfig.ParseIndexConfig([]byte(`{"version":"0.9","index_id":"`+id+`","index_uri":"s3://bucket/`+id+`","doc_mapping":`+mapping+`}`), ulid.Make)
	if err != nil {
		return metastore.CreateIndexRequest{}, err
	}
	ingest, err := indexconfig.ParseSourceConfig([]byte(`{"version":"0.9","source_id":"` + ingestSource + `","source_type":"ingest"}`))
	if err != nil {
		return metastore.CreateIndexRequest{}, err
	}
	queue, err := sourceConfig(queueSource, 1)
	return metastore.CreateIndexRequest{Config: config, Sources: []*indexconfig.SourceConfig{ingest, queue}}, err
}

func sourceConfig(id string, pipelines uint64) (*indexconfig.SourceConfig, error) {
	return indexconfig.ParseSourceConfig(fmt.Appendf(nil, `{"version":"0.9","source_id":%q,"num_pipelines":%d,"source_type":"kafka","params":{"topic":"logs"}}`, id, pipelines))
}

// startOf is an index as indexConfig creates it.
func startOf(uid metastore.IndexUID) *index {
	x := newIndex(uid)
	for _, id := range []string{ingestSource, queueSource} {
		x.sources[id], x.checkpoints[id] = source{pipelines: 1}, map[string]int{}
	}
	return x
}

func (c *client) createIndex(ctx context.Context) error {
	request, err := indexConfig(c.name)
	if err != nil {
		return err
	}
	if c.random.IntN(2) == 0 {
		request.Incarnation = metastore.Some(c.newIncarnation())
	}
	var uid metastore.IndexUID
	_, err = c.must(ctx, "create index", func(ctx context.Context, store metastore.Store) error {
		metadata, err := store.CreateIndex(ctx, request)
		if err == nil {
			uid = metadata.IndexUID
		}
		if want := request.Incarnation; err == nil && want.Set && uid.Incarnation != want.Value {
			return wrong("created %s, want incarnation %s", uid, want.Value)
		}
		if err == nil {
			err = startOf(uid).differs(metadata)
		}
		return err
	})
	c.own = startOf(uid)
	return err
}

// newIncarnation makes one as if it came from the files of an index.
func (c *client) newIncarnation() (incarnation ulid.ULID) {
	binary.BigEndian.PutUint64(incarnation[:], c.random.Uint64()>>1)
	binary.BigEndian.PutUint64(incarnation[8:], c.random.Uint64())
	return incarnation
}

// settle makes what stays for the whole run: an index of another incarnation than the one that the client works
// with, and in the shared index a published split, a shard and progress.
func (c *client) settle(ctx context.Context) error {
	if err := c.createIndex(ctx); err != nil {
		return err
	}
	if _, err := c.deleteIndex(ctx); err != nil {
		return err
	}
	if err := c.createIndex(ctx); err != nil {
		return err
	}
	if err := c.putTemplate(ctx, c.name, 0, false); err != nil {
		return err
	}
	if err := c.stage(ctx, c.shared, c.name); err != nil {
		return err
	}
	if err := c.publish(ctx, c.shared, []string{c.name}, nil, c.name); err != nil {
		return err
	}
	return c.openShard(ctx, c.shared, c.name)
}

func sortedIDs[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
