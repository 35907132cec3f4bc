package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"holdfast/metastore"
)

// clients is how many clients work at once in the cases about concurrency.
const clients = 16

// concurrencyCases are about clients that work on the same splits at the same time: nothing may be lost or done
// twice, and no client may see a failure that it did not cause.
func concurrencyCases() []testCase {
	return []testCase{
		{"create-only batches that overlap, shuffled, insert every split exactly once", func(b *bundle) {
			uid := b.index("a")
			all := numbered("s", 200)
			var mu sync.Mutex
			inserted := map[string]int{}
			for _, err := range b.concurrently(clients, func(client int) error {
				for round := range 10 {
					ids := shuffledSample(client*100+round, all, 100)
					result, err := b.tryCreateOnly(uid, newSplits(ids...)...)
					if err != nil {
						return err
					}
					if got := len(result.Staged) + len(result.Skipped); got != len(ids) {
						return fmt.Errorf("%d splits accounted for, want %d", got, len(ids))
					}
					if changed := result.Mutation == metastore.MutationYes; changed != (len(result.Staged) > 0) {
						return fmt.Errorf("mutation is %v with %d splits staged", changed, len(result.Staged))
					}
					mu.Lock()
					for _, id := range result.Staged {
						inserted[id]++
					}
					mu.Unlock()
				}
				return nil
			}) {
				if err != nil {
					b.Errorf("a client failed: %v", err)
				}
			}
			for id, times := range inserted {
				if times != 1 {
					b.Errorf("split %s was reported as staged %d times", id, times)
				}
			}
			var ids []string
			for id := range inserted {
				ids = append(ids, id)
			}
			b.wantIDsInAnyOrder(b.inState(uid, metastore.Staged), ids...)
		}},
		{"two create-only batches in opposite order both succeed and share the splits out", func(b *bundle) {
			uid := b.index("a")
			for round := range 20 {
				ids := numbered(fmt.Sprintf("r%d", round), 50)
				reversed := slices.Clone(ids)
				slices.Reverse(reversed)
				results := make([]metastore.StageSplitsResult, 2)
				for i, err := range b.concurrently(2, func(i int) (err error) {
					results[i], err = b.tryCreateOnly(uid, newSplits([][]string{ids, reversed}[i]...)...)
					return err
				}) {
					if err != nil {
						b.Fatalf("batch %d failed: %v", i, err)
					}
				}
				b.wantIDsInAnyOrder(append(results[0].Staged, results[1].Staged...), ids...)
			}
		}},
		{"upsert batches that overlap, shuffled, all succeed and stage every split", func(b *bundle) {
			uid := b.index("a")
			all := numbered("s", 150)
			for _, err := range b.concurrently(clients, func(client int) error {
				for round := range 5 {
					if err := b.tryStage(uid, newSplits(shuffledSample(client*100+round, all, 150)...)...); err != nil {
						return err
					}
				}
				return nil
			}) {
				if err != nil {
					b.Errorf("a client failed: %v", err)
				}
			}
			b.wantIDs(b.inState(uid, metastore.Staged), all...)
		}},
		{"create-only of splits that others publish at the same time aborts neither", func(b *bundle) {
			uid := b.index("a")
			const each = 13 // splits of each publishing client
			ids := numbered("s", clients/2*each)
			b.stage(uid, newSplits(ids...)...)
			for _, err := range b.concurrently(clients, func(client int) error {
				if client%2 == 0 {
					for _, id := range ids[client/2*each : (client/2+1)*each] {
						if err := b.tryPublish(uid, id); err != nil {
							return err
						}
					}
					return nil
				}
				for round := range 10 {
					result, err := b.tryCreateOnly(uid, newSplits(shuffledSample(client*100+round, ids, 100)...)...)
					if err != nil {
						return err
					}
					if len(result.Staged) > 0 {
						return fmt.Errorf("splits that exist were staged: %v", result.Staged)
					}
				}
				return nil
			}) {
				if err != nil {
					b.Errorf("a client failed: %v", err)
				}
			}
			if got := len(b.states(uid)); got != len(ids) {
				b.Errorf("the index has %d splits, want %d", got, len(ids))
			}
			b.wantIDs(b.inState(uid, metastore.Published), ids...)
		}},
		{"all calls of the life cycle at once, shuffled, fail only for the states that they meet", func(b *bundle) {
			uid := b.index("a")
			all := numbered("s", 40)
			for _, err := range b.concurrently(clients, func(client int) error {
				random := rand.New(rand.NewPCG(uint64(client), 7))
				for range 25 {
					ids := shuffledSample(random.Int(), all, 8)
					var err error
					switch random.IntN(6) {
					case 0:
						err = b.tryStage(uid, newSplits(ids...)...)
					case 1:
						_, err = b.tryCreateOnly(uid, newSplits(ids...)...)
					case 2:
						err = b.tryPublish(uid, ids...)
					case 3:
						err = b.tryReplace(uid, ids[:4], ids[4:])
					case 4:
						err = b.tryMark(uid, ids...)
					case 5:
						err = b.tryDelete(uid, ids...)
					}
					if err != nil && !errors.Is(err, metastore.ErrFailedPrecondition) && !errors.Is(err, metastore.ErrNotFound) {
						return err
					}
				}
				return nil
			}) {
				if err != nil {
					b.Errorf("a client failed: %v", err)
				}
			}
			for id, state := range b.states(uid) {
				if !slices.Contains(all, id) {
					b.Errorf("split %q (%s) was never staged", id, state)
				}
			}
		}},
		{"merges at once on one index: every split is replaced by exactly one of them", func(b *bundle) {
			uid := b.published(numbered("s", 20)...)
			merged := numbered("m", clients)
			b.stage(uid, newSplits(merged...)...)
			errs := b.concurrently(clients, func(client int) error {
				return b.tryReplace(uid, merged[client:client+1], numbered("s", 20))
			})
			var won []string
			for client, err := range errs {
				if err == nil {
					won = append(won, merged[client])
				} else if !errors.Is(err, metastore.ErrFailedPrecondition) {
					b.Errorf("a client failed: %v", err)
				}
			}
			if len(won) != 1 {
				b.Fatalf("merges %v succeeded, want one", won)
			}
			b.wantIDs(b.inState(uid, metastore.Published), won...)
		}},
		{"deleting an index while clients stage in it leaves nothing behind, and they see NotFound of the index at worst", func(b *bundle) {
			uid := b.index("a")
			for _, err := range b.concurrently(clients, func(client int) error {
				if client == 0 {
					return b.store.DeleteIndex(b.ctx, uid)
				}
				for round := range 5 {
					var err error
					ids := numbered(fmt.Sprintf("c%d-%d", client, round), 10)
					if client%2 == 0 {
						err = b.tryStage(uid, newSplits(ids...)...)
					} else {
						_, err = b.tryCreateOnly(uid, newSplits(ids...)...)
					}
					if err != nil && !errors.Is(err, metastore.NotFound(metastore.IndexEntity(uid.IndexID))) {
						return err
					}
				}
				return nil
			}) {
				if err != nil {
					b.Errorf("a client failed: %v", err)
				}
			}
			b.wantStates(uid, nil)
			b.wantStates(b.createIndex(uid.IndexID), nil)
		}},
		{"a listing while batches are staged shows each batch whole or not at all", func(b *bundle) {
			uid := b.index("a")
			const batch = 20
			for _, err := range b.concurrently(clients, func(client int) error {
				if client%2 == 0 {
					for round := range 10 {
						ids := numbered(fmt.Sprintf("c%02d-%02d", client, round), batch)
						if err := b.tryStage(uid, newSplits(ids...)...); err != nil {
							return err
						}
					}
					return nil
				}
				for range 10 {
					seen := map[string]int{}
					err := b.store.ListSplits(b.ctx, metastore.AllSplits(uid), func(row *metastore.SplitRow) error {
						split, err := row.Split()
						if err == nil {
							seen[split.Metadata.SplitID[:6]]++
						}
						return err
					})
					if err != nil {
						return err
					}
					for group, n := range seen {
						if n != batch {
							return fmt.Errorf("batch %s shows %d of %d splits", group, n, batch)
						}
					}
				}
				return nil
			}) {
				if err != nil {
					b.Errorf("a client failed: %v", err)
				}
			}
		}},
	}
}

// shuffledSample returns n of the ids in a random order that depends on the seed only.
func shuffledSample(seed int, ids []string, n int) []string {
	shuffled := slices.Clone(ids)
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	return shuffled[:n]
}
