package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// CheckExactlyOnce has 16 indexers publish records of the partitions of one source and of the shards of another one,
// some rounds each, in a new index of that id. Any of them takes any partition; they crash before they publish, lose
// the answer, and repeat calls. It checks that the published splits hold every record up to the checkpoint exactly
// once. Meanwhile disturb, if not nil, may make calls fail with an unknown outcome; it must return once done is closed.
func CheckExactlyOnce(ctx context.Context, t *testing.T, store metastore.Store, indexID string, rounds int, disturb func(done <-chan struct{})) {
	t.Helper()
	log := &recordLog{ctx: ctx, store: store, held: map[string]heldRecords{}, succeeded: map[string]int{}}
	if err := log.create(indexID); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var disturbance, indexers sync.WaitGroup
	if disturb != nil {
		disturbance.Go(func() { disturb(done) })
	}
	for i := range clients {
		indexers.Go(func() {
			indexer := &indexer{recordLog: log, name: fmt.Sprintf("node-%02d", i), random: rand.New(rand.NewPCG(uint64(i), 3))}
			for round := range rounds {
				if err := indexer.work(round); err != nil && !outcomeUnknown(err) {
					t.Errorf("%s: %v", indexer.name, err)
					return
				}
			}
		})
	}
	indexers.Wait()
	close(done)
	disturbance.Wait()
	if !t.Failed() {
		log.check(t)
	}
}

// outcomeUnknown reports whether a call may or may not have taken place.
func outcomeUnknown(err error) bool {
	return err != nil && !metastore.AsError(err).Kind.CertainlyAborted()
}

const (
	numPartitions = 3
	queueSource   = "src"
)

// recordLog is what the indexers index: partitions of endless records, numbered from 1.
type recordLog struct {
	ctx   context.Context
	store metastore.Store
	uid   metastore.IndexUID

	mu        sync.Mutex
	held      map[string]heldRecords // by split id
	succeeded map[string]int         // how many publishes of a split succeeded
}

// heldRecords are the records that a split holds: those behind after, up to and including to.
type heldRecords struct {
	source, partition string
	after, to         metastore.Position
}

func (l *recordLog) create(indexID string) error {
	config, err := indexconfig.ParseIndexConfig([]byte(`{"version":"0.9","index_id":"`+indexID+`","index_uri":"s3://bucket/`+indexID+`","doc_mapping":`+docMapping+`}`), ulid.Make)
	if err != nil {
		return err
	}
	request := metastore.CreateIndexRequest{Config: config}
	for _, text := range []string{ingestSource, voidSource} {
		source, err := indexconfig.ParseSourceConfig([]byte(text))
		if err != nil {
			return err
		}
		request.Sources = append(request.Sources, source)
	}
	metadata, err := l.store.CreateIndex(l.ctx, request)
	if err != nil {
		return err
	}
	l.uid = metadata.IndexUID
	var shards []metastore.OpenShardSubrequest
	for i := range numPartitions {
		shards = append(shards, newOpenShard(l.uid, partition(i)))
	}
	_, err = l.store.OpenShards(l.ctx, shards)
	return err
}

// indexer is one of the clients.
type indexer struct {
	*recordLog
	name   string
	random *rand.Rand
}

// work indexes some records of a partition.
func (i *indexer) work(round int) error {
	source, part := queueSource, partition(i.random.IntN(numPartitions))
	if i.random.IntN(2) == 0 {
		source = ingestSourceID
	}
	// The slash lets every indexer take a shard from the one that has it, which must notice.
	token := metastore.Some(i.name + "/" + fmt.Sprint(round))
	position, err := i.take(source, part, token.Value)
	if err != nil {
		return err
	}
	records := heldRecords{source: source, partition: part, after: position, to: after(position, 1+i.random.IntN(5))}
	split := fmt.Sprintf("%s-%03d", i.name, round)
	i.mu.Lock()
	i.held[split] = records
	i.mu.Unlock()
	if _, err := i.store.StageSplits(i.ctx, metastore.StageSplitsRequest{IndexUID: i.uid, Splits: newSplits(split)}); err != nil {
		return err
	}
	if i.random.IntN(8) == 0 {
		return nil // crashed
	}
	request := metastore.PublishSplitsRequest{
		IndexUID: i.uid, StagedSplitIDs: []string{split}, PublishToken: token,
		Delta: delta(source, step(part, records.after, records.to)),
	}
	// The second time the indexer has lost the answer.
	for range 1 + i.random.IntN(2) {
		err := i.store.PublishSplits(i.ctx, request)
		if err == nil {
			i.mu.Lock()
			i.succeeded[split]++
			i.mu.Unlock()
			continue
		}
		switch kind := metastore.AsError(err).Kind; kind {
		case metastore.KindFailedPrecondition, metastore.KindInvalidArgument, metastore.KindInvalidPublishToken:
			// Another one was faster, or the call before was successful.
		default:
			if kind.CertainlyAborted() {
				return err
			}
		}
	}
	return nil
}

// take returns where a partition stands. It takes a shard over.
func (i *indexer) take(source, part, token string) (metastore.Position, error) {
	if source == queueSource {
		metadata, err := i.store.IndexMetadata(i.ctx, byUID(i.uid))
		if err != nil {
			return "", err
		}
		return metadata.Checkpoint[source][part], nil
	}
	shards, err := i.store.AcquireShards(i.ctx, metastore.AcquireShardsRequest{IndexUID: i.uid, SourceID: source, ShardIDs: []string{part}, PublishToken: token})
	if err != nil {
		return "", err
	}
	if len(shards) != 1 {
		return "", fmt.Errorf("%d shards were acquired, want 1", len(shards))
	}
	return shards[0].Position, nil
}

// after is n records behind a position.
func after(position metastore.Position, n int) metastore.Position {
	offset := 0
	if position != metastore.Beginning {
		if _, err := fmt.Sscanf(strings.TrimLeft(string(position), "0"), "%d", &offset); err != nil {
			panic(err) // no indexer publishes another one
		}
	}
	return at(offset + n)
}

// check checks what was published.
func (l *recordLog) check(t *testing.T) {
	t.Helper()
	ends, err := l.ends()
	if err != nil {
		t.Fatal(err)
	}
	published := map[[2]string][]heldRecords{}
	query := metastore.AllSplits(l.uid)
	query.States = []metastore.SplitState{metastore.Published}
	err = l.store.ListSplits(l.ctx, query, func(row *metastore.SplitRow) error {
		split, err := row.Split()
		if err != nil {
			return err
		}
		id := split.Metadata.SplitID
		records := l.held[id]
		key := [2]string{records.source, records.partition}
		published[key] = append(published[key], records)
		delete(l.held, id)
		if l.succeeded[id] > 1 {
			t.Errorf("split %s was published %d times", id, l.succeeded[id])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for id := range l.held {
		if l.succeeded[id] > 0 {
			t.Errorf("the publish of split %s succeeded, and the split is not Published", id)
		}
	}
	if len(published) < numPartitions {
		t.Errorf("the indexers came to %d partitions only", len(published))
	}
	for key, records := range published {
		slices.SortFunc(records, func(a, b heldRecords) int { return a.after.Compare(b.after) })
		position := metastore.Beginning
		for _, r := range records {
			if r.after != position {
				t.Errorf("partition %v: behind %q comes a split that begins behind %q", key, position, r.after)
			}
			position = r.to
		}
		if position != ends[key] {
			t.Errorf("partition %v: the splits end at %q, the checkpoint is %q", key, position, ends[key])
		}
	}
}

// ends returns the position of each partition.
func (l *recordLog) ends() (map[[2]string]metastore.Position, error) {
	ends := map[[2]string]metastore.Position{}
	metadata, err := l.store.IndexMetadata(l.ctx, byUID(l.uid))
	if err != nil {
		return nil, err
	}
	for id, position := range metadata.Checkpoint[queueSource] {
		ends[[2]string{queueSource, id}] = position
	}
	lists, err := l.store.ListShards(l.ctx, []metastore.ListShardsSubrequest{{IndexUID: l.uid, SourceID: ingestSourceID}})
	if err != nil {
		return nil, err
	}
	for _, shard := range lists[0] {
		ends[[2]string{ingestSourceID, shard.ShardID}] = shard.Position
	}
	return ends, nil
}
