package file

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"holdfast/metastore"
)

func TestCreateOnlyStagingOfExistingSplitsWritesNothing(t *testing.T) {
	t.Parallel()
	counting := &countingBucket{bucket: memBucket(t)}
	s := openOn(t, counting)
	uid := createIndex(t, s, "logs")
	stage(t, s, uid, "a", "b")
	publish(t, s, uid, "b")
	puts := counting.puts.Load()

	result, err := s.StageSplits(t.Context(), metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits("a", "b"), CreateOnly: true})

	if err != nil || result.Mutation != metastore.MutationNo || len(result.Staged) != 0 || len(result.Skipped) != 2 {
		t.Fatalf("result %+v, %v", result, err)
	}
	if got := counting.puts.Load() - puts; got != 0 {
		t.Fatalf("%d puts, want none", got)
	}
}

func TestCreateOnlyStagingOfOneNewSplitWritesOneEntryWithThatSplit(t *testing.T) {
	t.Parallel()
	counting := &countingBucket{bucket: memBucket(t)}
	s := openOn(t, counting)
	uid := createIndex(t, s, "logs")
	stage(t, s, uid, "a", "b")
	before := len(counting.keys)

	result, err := s.StageSplits(t.Context(), metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits("a", "b", "new"), CreateOnly: true})

	if err != nil || result.Mutation != metastore.MutationYes || !slices.Equal(result.Staged, []string{"new"}) {
		t.Fatalf("result %+v, %v", result, err)
	}
	if len(counting.keys) != before+1 {
		t.Fatalf("created %q, want one object", counting.keys[before:])
	}
	text, err := counting.Read(t.Context(), counting.keys[before], maxEntryBytes)
	if err != nil {
		t.Fatal(err)
	}
	e, err := parseEntry(text)
	if err != nil || len(e.ops) != 1 || !isStageOf(e.ops[0], "new") {
		t.Fatalf("entry %s, %v", text, err)
	}
}

func TestWhatChangesNothingWritesNothing(t *testing.T) {
	t.Parallel()
	counting := &countingBucket{bucket: memBucket(t)}
	s := openOn(t, counting)
	uid := createIndex(t, s, "logs")
	stage(t, s, uid, "marked", "staged")
	if err := s.MarkSplitsForDeletion(t.Context(), uid, []string{"marked"}); err != nil {
		t.Fatal(err)
	}
	unknown := uid
	unknown.IndexID = "unknown"
	for name, call := range map[string]func() error{
		"an empty upsert": func() error {
			_, err := s.StageSplits(t.Context(), metastore.StageSplitsRequest{IndexUID: uid})
			return err
		},
		"an empty publish":          func() error { return s.PublishSplits(t.Context(), metastore.PublishSplitsRequest{IndexUID: uid}) },
		"marking what is marked":    func() error { return s.MarkSplitsForDeletion(t.Context(), uid, []string{"marked", "no such split"}) },
		"deleting unknown splits":   func() error { return s.DeleteSplits(t.Context(), uid, []string{"no such split"}) },
		"deleting nothing":          func() error { return s.DeleteSplits(t.Context(), uid, nil) },
		"a refused publish":         func() error { return wantError(s.PublishSplits(t.Context(), publishing(uid, "marked"))) },
		"a refused delete":          func() error { return wantError(s.DeleteSplits(t.Context(), uid, []string{"staged"})) },
		"deleting an unknown index": func() error { return wantError(s.DeleteIndex(t.Context(), unknown)) },
		"creating an existing index": func() error {
			_, err := s.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: indexConfig(t, "logs")})
			return wantError(err)
		},
	} {
		puts := counting.puts.Load()
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := counting.puts.Load() - puts; got != 0 {
			t.Errorf("%s: %d puts, want none", name, got)
		}
	}
}

func publishing(uid metastore.IndexUID, ids ...string) metastore.PublishSplitsRequest {
	return metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: ids}
}

func wantError(err error) error {
	if err == nil {
		return errors.New("succeeded, must be refused")
	}
	return nil
}

// gateBucket lets creates through when its gate is opened.
type gateBucket struct {
	bucket
	gate    chan struct{}
	arrived chan string
}

func (g *gateBucket) Create(ctx context.Context, key string, data []byte) error {
	if strings.HasPrefix(key, "logs/") {
		g.arrived <- key
		<-g.gate
	}
	return g.bucket.Create(ctx, key, data)
}

func TestRequestsThatWaitForAPutAreCommittedTogetherAndReadersDoNotWait(t *testing.T) {
	t.Parallel()
	gated := &gateBucket{bucket: memBucket(t), gate: make(chan struct{}, 100), arrived: make(chan string, 100)}
	s := openOn(t, gated)
	gated.gate <- struct{}{}
	uid := createIndex(t, s, "logs")
	<-gated.arrived

	var wg sync.WaitGroup
	wg.Go(func() { stage(t, s, uid, "first") })
	<-gated.arrived // the put of "first" is under way and stands still
	log, done := s.logs.use("logs")
	defer done()
	for i := range 10 {
		wg.Go(func() { stage(t, s, uid, fmt.Sprint("waiting-", i)) })
	}
	for {
		log.queue.Lock()
		waiting := len(log.waiting)
		log.queue.Unlock()
		if waiting == 10 {
			break
		}
	}
	wantListing(t, s) // not blocked, and nothing uncommitted is seen
	gated.gate <- struct{}{}
	gated.gate <- struct{}{}
	wg.Wait()

	if got := len(listing(t, s)); got != 11 {
		t.Fatalf("%d splits, want 11", got)
	}
	if entries := names(t, gated, "logs/"+logDirectory); len(entries) != 3 {
		t.Fatalf("entries %q, want 3", entries)
	}
}

func TestARefusedRequestOfAGroupContributesNothing(t *testing.T) {
	t.Parallel()
	s := openOn(t, memBucket(t))
	uid := createIndex(t, s, "logs")
	log, done := s.logs.use("logs")
	defer done()
	asking := func(decide func(*indexState) ([]op, error)) *request[*indexState] {
		return &request[*indexState]{decide: func(s *indexState, _ uint64, _ bool) ([]op, error) { return decide(s) }, done: make(chan struct{})}
	}
	refusal := errors.New("refused")
	group := []*request[*indexState]{
		asking(func(*indexState) ([]op, error) { return []op{stageOp(withUID(uid, newSplits("a")))}, nil }),
		asking(func(*indexState) ([]op, error) { return nil, refusal }),
		asking(func(s *indexState) ([]op, error) {
			if s.splits.get("a") == nil {
				return nil, errors.New("the change of the first request is not seen")
			}
			return []op{markOp{"a"}}, nil
		}),
	}
	if err := log.commit(t.Context(), group); err != nil {
		t.Fatal(err)
	}
	if group[0].err != nil || !errors.Is(group[1].err, refusal) || group[2].err != nil {
		t.Fatalf("errors %v, %v, %v", group[0].err, group[1].err, group[2].err)
	}
	wantListing(t, s, "logs/a=MarkedForDeletion")
	if _, err := log.env.bucket.Read(t.Context(), log.keys.entry(3), 1); !errors.Is(err, errNotExist) {
		t.Fatalf("the group was not one entry: %v", err)
	}
}

func withUID(uid metastore.IndexUID, splits []metastore.SplitMetadata) []metastore.SplitMetadata {
	for i := range splits {
		splits[i] = splits[i].WithIndexUID(uid)
	}
	return splits
}

func TestARequestThatIsGivenUpBeforeItBeganHasNoEffect(t *testing.T) {
	t.Parallel()
	gated := &gateBucket{bucket: memBucket(t), gate: make(chan struct{}, 100), arrived: make(chan string, 100)}
	s := openOn(t, gated)
	gated.gate <- struct{}{}
	uid := createIndex(t, s, "logs")
	<-gated.arrived
	var wg sync.WaitGroup
	wg.Go(func() { stage(t, s, uid, "first") })
	<-gated.arrived
	ctx, cancel := context.WithCancel(t.Context())
	log, done := s.logs.use("logs")
	defer done()
	var err error
	wg.Go(func() {
		_, err = s.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits("second")})
	})
	for queued := false; !queued; {
		log.queue.Lock()
		queued = len(log.waiting) == 1
		log.queue.Unlock()
	}
	cancel()
	for queued := true; queued; {
		log.queue.Lock()
		queued = len(log.waiting) == 1
		log.queue.Unlock()
	}
	gated.gate <- struct{}{}
	wg.Wait()
	if metastore.AsError(err) == nil || metastore.AsError(err).Kind != metastore.KindTimeout {
		t.Fatalf("error %v, want a timeout", err)
	}
	wantListing(t, s, "logs/first=Staged")
}

func TestSixteenClientsWithOverlappingShuffledBatchesStageEachSplitOnce(t *testing.T) {
	t.Parallel()
	eachBucket(t, func(t *testing.T, b bucket) {
		s := openOn(t, b)
		uid := createIndex(t, s, "logs")
		ids := numbered("split", 400)
		var mu sync.Mutex
		staged := map[string]int{}
		var wg sync.WaitGroup
		for client := range 16 {
			random := rand.New(rand.NewPCG(1, uint64(client)))
			wg.Go(func() {
				for range 10 {
					batch := slices.Clone(ids)
					random.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
					result, err := s.StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits(batch[:100]...), CreateOnly: true})
					if err != nil || len(result.Staged)+len(result.Skipped) != 100 {
						t.Errorf("stage: %+v, %v", result, err)
					}
					mu.Lock()
					for _, id := range result.Staged {
						staged[id]++
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		listed := listing(t, s)
		if len(listed) != len(staged) {
			t.Fatalf("%d splits listed, %d staged", len(listed), len(staged))
		}
		for id, times := range staged {
			if times != 1 {
				t.Errorf("split %s was staged %d times", id, times)
			}
		}
	})
}
