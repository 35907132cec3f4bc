package file

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"holdfast/metastore"
)

// stepBucket stops before each put until the test lets it go on.
type stepBucket struct {
	bucket
	waiting chan chan struct{}
}

func (s *stepBucket) Create(ctx context.Context, key string, data []byte) error {
	if strings.Contains(key, "probe-") {
		return s.bucket.Create(ctx, key, data)
	}
	proceed := make(chan struct{})
	s.waiting <- proceed
	<-proceed
	return s.bucket.Create(ctx, key, data)
}

func (s *stepBucket) Close() error { return nil }

// actor is one process that runs calls and stops before each put.
type actor struct {
	store    *Store
	steps    *stepBucket
	finished chan error
	proceed  chan struct{} // nil unless the actor has stopped before a put
}

func newActor(t *rapid.T, b bucket) *actor {
	a := &actor{steps: &stepBucket{bucket: b, waiting: make(chan chan struct{})}}
	var err error
	if a.store, err = open(context.Background(), a.steps, Options{}); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *actor) idle() bool { return a.finished == nil }

func (a *actor) start(call func() error) {
	a.finished = make(chan error, 1)
	go func() { a.finished <- call() }()
}

// wait returns when the actor has stopped before a put (false) or its call is over (true).
func (a *actor) wait() (err error, over bool) {
	select {
	case a.proceed = <-a.steps.waiting:
		return nil, false
	case err = <-a.finished:
		a.finished = nil
		return err, true
	}
}

func (a *actor) step() {
	close(a.proceed)
	a.proceed = nil
}

func TestNoInterleavingOfCreatesAndDeletesHidesAnIndex(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		b := memBucket(t)
		observer, err := open(context.Background(), b, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		actors := []*actor{newActor(rt, b), newActor(rt, b), newActor(rt, b)}
		request := metastore.CreateIndexRequest{Config: indexConfig(t, "logs")}
		act := func(a *actor, create bool) {
			if create {
				a.start(func() error { _, err := a.store.CreateIndex(context.Background(), request); return err })
				return
			}
			// A delete of what exists now; by the time it is made it may be another incarnation, or none.
			uid := metastore.IndexUID{IndexID: "logs"}
			state, err := observer.stateOf(context.Background(), "logs")
			if err != nil {
				rt.Fatal(err)
			}
			if state.index != nil {
				uid = state.index.IndexUID
			}
			a.start(func() error { return a.store.DeleteIndex(context.Background(), uid) })
		}
		for range rapid.IntRange(5, 40).Draw(rt, "steps") {
			a := actors[rapid.IntRange(0, len(actors)-1).Draw(rt, "actor")]
			if a.idle() {
				act(a, rapid.Bool().Draw(rt, "create"))
			} else {
				a.step()
			}
			if err, over := a.wait(); over && err != nil && !errors.Is(err, metastore.ErrNotFound) && !errors.Is(err, metastore.ErrAlreadyExists) {
				rt.Fatalf("call: %v", err)
			}
			checkListed(rt, observer)
		}
		for _, a := range actors { // let them end
			for !a.idle() {
				a.step()
				if err, _ := a.wait(); err != nil && !errors.Is(err, metastore.ErrNotFound) && !errors.Is(err, metastore.ErrAlreadyExists) {
					rt.Fatalf("call: %v", err)
				}
			}
			checkListed(rt, observer)
			if err := a.store.Close(); err != nil {
				rt.Fatal(err)
			}
		}
		if err := observer.Close(); err != nil {
			rt.Fatal(err)
		}
	})
}

// checkListed fails if the index exists and is not listed, or the other way round.
func checkListed(t *rapid.T, s *Store) {
	state, err := s.stateOf(context.Background(), "logs")
	if err != nil {
		t.Fatal(err)
	}
	listed, err := s.indexes(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if exists := state.index != nil; exists != (len(listed) == 1) {
		t.Fatalf("the index exists: %v, indexes listed: %d", exists, len(listed))
	}
}

func TestAnIDWithoutIndexIsCleanedByALaterDelete(t *testing.T) {
	t.Parallel()
	s := openOn(t, memBucket(t))
	if err := s.root.submit(t.Context(), 0, func(*rootState, uint64, bool) ([]op, error) {
		return []op{addIndexOp{rootIndex{indexID: "logs"}}, addIndexOp{rootIndex{indexID: "dangling", generation: [16]byte{1}}}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	if listed, err := s.indexes(t.Context(), nil); err != nil || len(listed) != 0 {
		t.Fatalf("listed %d, %v", len(listed), err)
	}
	err := s.DeleteIndex(t.Context(), metastore.IndexUID{IndexID: "dangling"})
	if !errors.Is(err, metastore.ErrNotFound) {
		t.Fatalf("delete: %v", err)
	}
	if ids := s.root.current.Load().state.indexIDs(nil); !slices.Equal(ids, []string{"logs"}) {
		t.Fatalf("ids %q", ids)
	}
}

func TestIndexesOfSeveralStoresAreListedByAllInTheOrderOfTheirUIDs(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	one, two := openOn(t, b), openOn(t, b)
	for i, id := range []string{"logs", "logs1", "logs-x"} {
		createIndex(t, []*Store{one, two}[i%2], id)
	}
	for _, s := range []*Store{one, two, openOn(t, b)} {
		states, err := s.indexes(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, state := range states {
			ids = append(ids, state.index.IndexUID.IndexID)
		}
		if got := fmt.Sprint(ids); got != "[logs-x logs1 logs]" {
			t.Errorf("listed %s", got)
		}
	}
}
