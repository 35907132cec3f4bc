package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
	"holdfast/metastore/indexconfig"
)

// newShards returns open shards of source "source", the first with a token.
func newShards(uid metastore.IndexUID, ids ...string) []*metastore.Shard {
	shards := make([]*metastore.Shard, len(ids))
	for i, id := range ids {
		shards[i] = &metastore.Shard{IndexUID: uid, SourceID: "source", ShardID: id, IngesterID: "node-1", State: metastore.ShardOpen, UpdateTimestamp: 1796036479}
		if i == 0 {
			shards[i].PublishToken = metastore.Some("token")
		}
	}
	return shards
}

// shardBundle is a store with an index that has a source "source".
type shardBundle struct {
	*testing.T
	store *Store
	uid   metastore.IndexUID
}

func newShardBundle(t *testing.T, b bucket) *shardBundle {
	t.Helper()
	s := openOn(t, b)
	return &shardBundle{t, s, createWithSource(t, s, "logs")}
}

// put stores shards that no call of the store could make.
func (b *shardBundle) put(shards ...*metastore.Shard) {
	b.Helper()
	err := b.store.change(b.Context(), b.uid, 0, func(*indexState) ([]op, error) { return []op{openShardsOp(shards)}, nil })
	if err != nil {
		b.Fatal(err)
	}
}

func (b *shardBundle) list(state metastore.ShardState) (ids []string) {
	b.Helper()
	lists, err := b.store.ListShards(b.Context(), []metastore.ListShardsSubrequest{{IndexUID: b.uid, SourceID: "source", State: state}})
	if err != nil {
		b.Fatal(err)
	}
	for _, shard := range lists[0] {
		ids = append(ids, shard.ShardID)
	}
	return ids
}

func (b *shardBundle) prune(maxAge, maxCount metastore.Optional[uint32]) {
	b.Helper()
	if err := b.store.PruneShards(b.Context(), metastore.PruneShardsRequest{IndexUID: b.uid, SourceID: "source", MaxAge: maxAge, MaxCount: maxCount}); err != nil {
		b.Fatal(err)
	}
}

func wantIDs(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("ids are %q, want %q", got, want)
	}
}

func TestI91ToI95PruningGoesByAgeAndCount(t *testing.T) {
	t.Parallel()
	b := newShardBundle(t, memBucket(t))
	now := time.Unix(1_800_000_000, 0)
	b.store.env.clock = func() time.Time { return now }
	var all []string
	for i := range 100 {
		shard := newShards(b.uid, fmt.Sprintf("%02d", i))[0]
		shard.State, shard.UpdateTimestamp = metastore.ShardClosed, now.Unix()-10_000+int64(i)*100
		b.put(shard)
		all = append(all, shard.ShardID)
	}
	no := metastore.Optional[uint32]{}
	for _, c := range []struct {
		maxAge, maxCount metastore.Optional[uint32]
		oldest           int
	}{
		{no, no, 0},
		{metastore.Some[uint32](9650), no, 4},
		{no, metastore.Some[uint32](90), 10},
		{metastore.Some[uint32](7050), metastore.Some[uint32](80), 30},
		{metastore.Some[uint32](6000), metastore.Some[uint32](50), 50},
		{metastore.Some[uint32](5000), no, 50}, // exactly at the limit
		{metastore.Some[uint32](4999), no, 51},
	} {
		b.prune(c.maxAge, c.maxCount)
		wantIDs(t, b.list(metastore.ShardUnspecified), all[c.oldest:]...)
	}
}

func TestI85ToI90AClosedShardIsDeletedOnlyAtItsEndOrByForce(t *testing.T) {
	t.Parallel()
	b := newShardBundle(t, memBucket(t))
	shards := newShards(b.uid, "1", "2", "3")
	shards[1].State = metastore.ShardClosed
	shards[2].State, shards[2].Position = metastore.ShardClosed, "~"
	b.put(shards...)
	wantIDs(t, b.list(metastore.ShardOpen), "1")
	wantIDs(t, b.list(metastore.ShardClosed), "2", "3")

	remove := func(force bool) metastore.DeleteShardsResult {
		result, err := b.store.DeleteShards(t.Context(), metastore.DeleteShardsRequest{IndexUID: b.uid, SourceID: "source", ShardIDs: []string{"1", "2", "3", "4"}, Force: force})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	result := remove(false)
	wantIDs(t, result.Deleted, "3", "4")
	wantIDs(t, result.Refused, "1", "2")
	wantIDs(t, b.list(metastore.ShardUnspecified), "1", "2")
	result = remove(true)
	wantIDs(t, result.Deleted, "1", "2", "3", "4")
	wantIDs(t, result.Refused)
	wantIDs(t, b.list(metastore.ShardUnspecified))
}

func TestI145ToI149CallsThatChangeNothingWriteNothing(t *testing.T) {
	t.Parallel()
	counting := &countingBucket{bucket: memBucket(t)}
	b := newShardBundle(t, counting)
	open := []metastore.OpenShardSubrequest{{IndexUID: b.uid, SourceID: "source", ShardID: "1"}, {IndexUID: b.uid, SourceID: "source", ShardID: "1"}}
	acquire := metastore.AcquireShardsRequest{IndexUID: b.uid, SourceID: "source", ShardIDs: []string{"1"}, PublishToken: "b"}
	var writes atomic.Int64
	check := func(what string, want int64, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got := counting.puts.Load() - writes.Load(); got != want {
			t.Errorf("%s wrote %d objects, want %d", what, got, want)
		}
		writes.Store(counting.puts.Load())
	}
	check("nothing", counting.puts.Load(), nil)

	_, err := b.store.OpenShards(t.Context(), open)
	check("opening a shard", 1, err)
	_, err = b.store.OpenShards(t.Context(), open)
	check("opening it again", 0, err)
	_, err = b.store.AcquireShards(t.Context(), acquire)
	check("acquiring it", 1, err)
	_, err = b.store.AcquireShards(t.Context(), acquire)
	check("acquiring it again", 0, err)
	acquire.PublishToken = "a"
	_, err = b.store.AcquireShards(t.Context(), acquire)
	check("acquiring it with an older token", 0, err)
	acquire.ShardIDs = []string{"2"}
	_, err = b.store.AcquireShards(t.Context(), acquire)
	check("acquiring a shard that does not exist", 0, err)
	check("pruning without a limit", 0, b.store.PruneShards(t.Context(), metastore.PruneShardsRequest{IndexUID: b.uid, SourceID: "source"}))
	check("pruning with room", 0, b.store.PruneShards(t.Context(), metastore.PruneShardsRequest{IndexUID: b.uid, SourceID: "source", MaxCount: metastore.Some[uint32](1)}))
	_, err = b.store.DeleteShards(t.Context(), metastore.DeleteShardsRequest{IndexUID: b.uid, SourceID: "source", ShardIDs: []string{"1"}})
	check("deleting a shard that is not at its end", 0, err)
	_, err = b.store.DeleteShards(t.Context(), metastore.DeleteShardsRequest{IndexUID: b.uid, SourceID: "source", ShardIDs: []string{"1"}, Force: true})
	check("deleting it by force", 1, err)
	_, err = b.store.DeleteShards(t.Context(), metastore.DeleteShardsRequest{IndexUID: b.uid, SourceID: "source", ShardIDs: []string{"1"}, Force: true})
	check("deleting it again", 0, err)
}

func TestShardsSurviveARestartFromTheLogAndFromASnapshot(t *testing.T) {
	t.Parallel()
	bucket := memBucket(t)
	b := newShardBundle(t, bucket)
	b.put(newShards(b.uid, "b", "a", "c")...)
	if _, err := b.store.AcquireShards(t.Context(), metastore.AcquireShardsRequest{IndexUID: b.uid, SourceID: "source", ShardIDs: []string{"a"}, PublishToken: "t/1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.DeleteShards(t.Context(), metastore.DeleteShardsRequest{IndexUID: b.uid, SourceID: "source", ShardIDs: []string{"c"}, Force: true}); err != nil {
		t.Fatal(err)
	}
	subrequests := []metastore.ListShardsSubrequest{{IndexUID: b.uid, SourceID: "source"}}
	want, err := b.store.ListShards(t.Context(), subrequests)
	if err != nil || len(want[0]) != 2 {
		t.Fatal(want, err)
	}
	for _, from := range []string{"the log", "a snapshot"} {
		got, err := openOn(t, bucket).ListShards(t.Context(), subrequests)
		if err != nil || !slices.Equal(got[0], want[0]) {
			t.Errorf("from %s: %+v, error %v, want %+v", from, got, err, want)
		}
		log, done := b.store.logs.use("logs")
		if from == "the log" {
			writeSnapshot(t, log)
		}
		done()
	}
}

func TestASnapshotWithBadShardsIsRefused(t *testing.T) {
	t.Parallel()
	uid := metastore.IndexUID{IndexID: "logs", Incarnation: ulid.ULID{7}}
	good := string(indexSnapshot(t, "a", "b"))
	document := string(newShards(uid, "a")[0].AppendJSON(nil))
	for name, c := range map[string]struct{ old, new, want string }{
		"another index":         {`"index_uid":"` + uid.String() + `","source_id":"source","shard_id":"a"`, `"index_uid":"logs:00000000000000000000000001","source_id":"source","shard_id":"a"`, "is of index"},
		"another source":        {`{"source":[`, `{"other":[`, "the shard is of source"},
		"a shard that is twice": {document, document + "," + document, `shard "a" is given twice`},
		"no list":               {`{"source":[` + document, `{"none":{},"source":[` + document, "must be an array"},
		"no object":             {`"shards":{`, `"shards":[],"more":{`, "must be an object"},
		"a bad document":        {`"shard_state":1`, `"shard_state":9`, "shard_state"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(good[:len(good)-sealLength]+"}", c.old, c.new, 1)
			_, err := indexCodec.read(&sealReader{r: strings.NewReader(text)})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one about %q", err, c.want)
			}
		})
	}
}

// A snapshot is written in pieces; this one has several of shards alone.
func TestManyShardsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	uid := metastore.IndexUID{IndexID: "logs", Incarnation: ulid.ULID{7}}
	state := newIndexState()
	state.begin(metastore.NewIndexMetadata(uid, metastore.CreateIndexRequest{Config: indexConfig(t, "logs")}, 5))
	for i := range 3000 {
		shard := newShards(uid, fmt.Sprintf("%05d", i))[0]
		shard.SourceID = fmt.Sprint("source-", i%7)
		state.shards.put(shard)
	}
	var written bytes.Buffer
	if err := writeSealed(&written, indexWriter(&head[*indexState]{version: 4, writeID: uuid.MustParse(someID), state: state})); err != nil {
		t.Fatal(err)
	}
	read, err := indexCodec.read(&sealReader{r: &written})
	if err != nil {
		t.Fatal(err)
	}
	var want, got []metastore.Shard
	state.shards.ascend(func(shard *metastore.Shard) bool { want = append(want, *shard); return true })
	read.state.shards.ascend(func(shard *metastore.Shard) bool { got = append(got, *shard); return true })
	if len(got) != 3000 || !slices.Equal(got, want) {
		t.Fatalf("%d shards read, %d written, or they differ", len(got), len(want))
	}
}

// openIn asks for a shard in each of the indexes.
func openIn(uids ...metastore.IndexUID) []metastore.OpenShardSubrequest {
	subrequests := make([]metastore.OpenShardSubrequest, len(uids))
	for i, uid := range uids {
		subrequests[i] = metastore.OpenShardSubrequest{IndexUID: uid, SourceID: "source", ShardID: "s"}
	}
	return subrequests
}

func TestAKeyedOpenShardsOfSeveralIndexesCompletesWhatIsMissing(t *testing.T) {
	t.Parallel()
	broken := &atomic.Bool{}
	s := openOn(t, &brokenPrefix{bucket: memBucket(t), prefix: "other/", broken: broken}, func(o *Options) { o.MaxConcurrentChecks = 1 })
	s.env.retryPause = func(int) time.Duration { return 0 }
	logs, other := createWithSource(t, s, "logs"), createWithSource(t, s, "other")
	record := newRecord(t, "OpenShards")
	open := func() error {
		_, err := s.WithRecord(record).OpenShards(t.Context(), openIn(logs, other))
		return err
	}
	broken.Store(true)
	for range 2 {
		wantUnknown(t, open())
	}
	broken.Store(false)
	wantReplayed(t, open(), record)
	lists, err := s.ListShards(t.Context(), []metastore.ListShardsSubrequest{{IndexUID: logs, SourceID: "source"}, {IndexUID: other, SourceID: "source"}})
	if err != nil || len(lists[0]) != 1 || len(lists[1]) != 1 {
		t.Fatalf("shards %v, %v; want one of each index", lists, err)
	}
	if err := s.DeleteIndex(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	wantReplayed(t, open(), record)
}

func TestAKeyOfAnotherRequestOpensNoShardsInOtherIndexes(t *testing.T) {
	t.Parallel()
	s := openOn(t, memBucket(t))
	logs, other := createWithSource(t, s, "logs"), createWithSource(t, s, "other")
	record := newRecord(t, "OpenShards")
	if _, err := s.WithRecord(record).OpenShards(t.Context(), openIn(logs)); err != nil {
		t.Fatal(err)
	}
	record.Fingerprint[0]++
	_, err := s.WithRecord(record).OpenShards(t.Context(), openIn(other, logs))
	if !errors.Is(err, &idempotency.Error{Reason: idempotency.KeyReused}) {
		t.Fatalf("the key for another request: %v", err)
	}
	if lists, err := s.ListShards(t.Context(), []metastore.ListShardsSubrequest{{IndexUID: other, SourceID: "source"}}); err != nil || len(lists[0]) != 0 {
		t.Fatalf("shards %v, %v; want none", lists, err)
	}
}

// brokenPrefix fails what creates objects below a prefix while it is broken.
type brokenPrefix struct {
	bucket
	prefix string
	broken *atomic.Bool
}

func (b *brokenPrefix) Create(ctx context.Context, key string, data []byte) error {
	if b.broken.Load() && strings.HasPrefix(key, b.prefix) {
		return errFault
	}
	return b.bucket.Create(ctx, key, data)
}

func (b *brokenPrefix) Close() error { return nil }

func createWithSource(t *testing.T, s *Store, id string) metastore.IndexUID {
	t.Helper()
	source, err := indexconfig.ParseSourceConfig([]byte(`{"version":"0.9","source_id":"source","source_type":"ingest"}`))
	if err != nil {
		t.Fatal(err)
	}
	index, err := s.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: indexConfig(t, id), Sources: []*indexconfig.SourceConfig{source}})
	if err != nil {
		t.Fatal(err)
	}
	return index.IndexUID
}
