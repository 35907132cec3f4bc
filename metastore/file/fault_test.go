package file

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"holdfast/metastore"
)

// absent stands for the state of a split that does not exist.
const absent metastore.SplitState = 0

// pairModel knows which states a pair of splits may be in. The splits of a pair are always changed
// together, so they are always in the same state.
type pairModel map[metastore.SplitState]bool

// faultTest plays calls on two stores over one faulty network.
type faultTest struct {
	*rapid.T
	net    *network
	stores [2]*Store
	uid    metastore.IndexUID
	pairs  []pairModel
}

func (f *faultTest) ids(pair int) []string {
	return []string{fmt.Sprintf("split-%d-a", pair), fmt.Sprintf("split-%d-b", pair)}
}

func (f *faultTest) open(at int) {
	s, err := open(context.Background(), f.net, Options{SnapshotEntries: 4})
	for tries := 0; err != nil && tries < 100; tries++ {
		s, err = open(context.Background(), f.net, Options{SnapshotEntries: 4})
	}
	if err != nil {
		f.Fatalf("open: %v", err)
	}
	f.stores[at] = trimEagerly(s)
}

func (f *faultTest) close(at int) {
	if err := f.stores[at].Close(); err != nil {
		f.Fatalf("close: %v", err)
	}
}

// outcome applies what a call may have done. moved says where the call takes a pair from each state.
func (f *faultTest) outcome(pair int, call string, err error, moved map[metastore.SplitState]metastore.SplitState) {
	possible := f.pairs[pair]
	next := pairModel{}
	switch {
	case err == nil:
		for state := range possible {
			if to, ok := moved[state]; ok {
				next[to] = true
			}
		}
		if len(next) == 0 {
			f.Fatalf("%s of pair %d succeeded, which may be in %v", call, pair, possible)
		}
	case metastore.AsError(err).Kind.CertainlyAborted():
		// The refusal was decided on a state from which the call does nothing.
		refusable := false
		for state := range possible {
			next[state] = true
			_, ok := moved[state]
			refusable = refusable || !ok
		}
		if !refusable {
			f.Fatalf("%s of pair %d was refused (%v), which may be in %v", call, pair, err, possible)
		}
	default:
		for state := range possible {
			next[state] = true
			if to, ok := moved[state]; ok {
				next[to] = true
			}
		}
	}
	f.pairs[pair] = next
}

func (f *faultTest) check(s *Store) {
	states := map[string]metastore.SplitState{}
	err := s.ListSplits(context.Background(), metastore.AllSplits(f.uid), func(row *metastore.SplitRow) error {
		split, err := row.Split()
		states[split.Metadata.SplitID] = row.State
		return err
	})
	if err != nil {
		if metastore.AsError(err).Kind.CertainlyAborted() || !errors.Is(err, errFault) {
			f.Fatalf("list: %v", err)
		}
		return
	}
	for pair, possible := range f.pairs {
		ids := f.ids(pair)
		if states[ids[0]] != states[ids[1]] {
			f.Fatalf("pair %d is half changed: %v and %v", pair, states[ids[0]], states[ids[1]])
		}
		if !possible[states[ids[0]]] {
			f.Fatalf("pair %d is in state %d, possible are %v", pair, states[ids[0]], possible)
		}
	}
}

func TestWhateverTheStorageDoesAcknowledgedChangesStayAndNoneIsHalfMade(t *testing.T) {
	t.Parallel()
	shared := memBucket
	rapid.Check(t, func(rt *rapid.T) {
		f := &faultTest{T: rt, net: newNetwork(shared(t), rapid.Uint64().Draw(rt, "seed"))}
		f.net.setFaulty(false)
		f.open(0)
		f.open(1)
		metadata, err := f.stores[0].CreateIndex(context.Background(), metastore.CreateIndexRequest{Config: indexConfig(t, "logs")})
		if err != nil {
			f.Fatalf("create index: %v", err)
		}
		f.uid = metadata.IndexUID
		f.net.setFaulty(true)
		for range 4 {
			f.pairs = append(f.pairs, pairModel{absent: true})
		}
		for range rapid.IntRange(1, 60).Draw(rt, "calls") {
			f.step()
		}
		f.net.setFaulty(false)
		if err := f.net.deliver(); err != nil {
			f.Fatalf("deliver: %v", err)
		}
		f.close(0)
		f.close(1)
		f.open(0)
		f.check(f.stores[0])
		f.close(0)
	})
}

func (f *faultTest) step() {
	at := rapid.IntRange(0, 1).Draw(f.T, "store")
	pair := rapid.IntRange(0, len(f.pairs)-1).Draw(f.T, "pair")
	s, ids, ctx := f.stores[at], f.ids(pair), context.Background()
	const staged, published, marked = metastore.Staged, metastore.Published, metastore.MarkedForDeletion
	type moves = map[metastore.SplitState]metastore.SplitState
	switch call := rapid.SampledFrom([]string{"stage", "stage", "create-only", "publish", "publish", "mark", "delete", "list", "reopen"}).Draw(f.T, "call"); call {
	case "stage":
		_, err := s.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: f.uid, Splits: newSplits(ids...)})
		f.outcome(pair, call, err, moves{absent: staged, staged: staged})
	case "create-only":
		_, err := s.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: f.uid, Splits: newSplits(ids...), CreateOnly: true})
		f.outcome(pair, call, err, moves{absent: staged, staged: staged, published: published, marked: marked})
	case "publish":
		f.outcome(pair, call, s.PublishSplits(ctx, publishing(f.uid, ids...)), moves{staged: published})
	case "mark":
		f.outcome(pair, call, s.MarkSplitsForDeletion(ctx, f.uid, ids), moves{absent: absent, staged: marked, published: marked, marked: marked})
	case "delete":
		f.outcome(pair, call, s.DeleteSplits(ctx, f.uid, ids), moves{absent: absent, marked: absent})
	case "list":
		f.check(s)
	case "reopen":
		f.close(at)
		f.open(at)
	}
	if rapid.Bool().Draw(f.T, "deliver") {
		if err := f.net.deliver(); err != nil {
			f.Fatalf("deliver: %v", err)
		}
	}
}
