package storetest

import (
	"errors"
	"sync"

	"holdfast/metastore"
)

// publishSplitsCases are about publishing staged splits; replacing has its own file.
func publishSplitsCases() []testCase {
	return []testCase{
		{"publishing no split in an unknown index gives NotFound of the index, without a delta", func(b *bundle) {
			unknown := b.unknownIndex()
			b.wantNotFoundIndex(b.tryPublish(unknown), unknown)
		}},
		{"publishing an unknown split in an unknown index gives NotFound of the index, without a delta", func(b *bundle) {
			unknown := b.unknownIndex()
			b.wantNotFoundIndex(b.tryPublish(unknown, "x"), unknown)
		}},
		{"publishing under another incarnation gives NotFound of the index, without a delta", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1"))
			b.wantNotFoundIndex(b.tryPublish(otherIncarnation(uid), "s1"), uid)
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.Staged})
		}},
		{"S-5 publishing an unknown split gives NotFound of it", func(b *bundle) {
			b.wantNotFoundSplits(b.tryPublish(b.index("a"), "x"), "x")
		}},
		{"S-6 publishing a Staged split makes it Published", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1"))
			b.publish(uid, "s1")
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.Published})
		}},
		{"publishing a Published split again gives FailedPrecondition of it, without a delta", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1"))
			b.publish(uid, "s1")
			before := b.snapshot(uid)
			b.wantFailedPreconditionSplits(b.tryPublish(uid, "s1"), "s1")
			b.wantUnchanged(uid, before)
		}},
		{"publishing a marked split gives FailedPrecondition of it, without a delta", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.wantFailedPreconditionSplits(b.tryPublish(uid, "marked"), "marked")
			b.wantIDs(b.inState(uid, metastore.MarkedForDeletion), "marked")
		}},
		{"publishing a Staged and an unknown split gives NotFound and publishes nothing, without a delta", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1"))
			b.wantNotFoundSplits(b.tryPublish(uid, "s1", "x"), "x")
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.Staged})
		}},
		{"an unknown split beats a Published one: NotFound, without a delta", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.wantNotFoundSplits(b.tryPublish(uid, "published", "x"), "x")
		}},
		{"an unknown split beats a marked one: NotFound, without a delta", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.wantNotFoundSplits(b.tryPublish(uid, "marked", "x"), "x")
		}},
		{"splits staged by two calls are published by one, without a delta", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1"))
			b.stage(uid, newSplit("s2"))
			b.publish(uid, "s1", "s2")
			b.wantIDs(b.inState(uid, metastore.Published), "s1", "s2")
		}},
		{"a Published split next to a Staged one gives FailedPrecondition of the Published one, without a delta", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.wantFailedPreconditionSplits(b.tryPublish(uid, "staged", "published"), "published")
			b.wantIDs(b.inState(uid, metastore.Staged), "staged")
		}},
		{"S-15 every incarnation starts empty and may use the same split ids", func(b *bundle) {
			uid := b.index("a")
			for range 3 {
				b.wantStates(uid, nil)
				b.stage(uid, newSplits("s1", "s2")...)
				b.publish(uid, "s1", "s2")
				b.deleteIndex(uid)
				uid = b.createIndex(uid.IndexID)
			}
		}},
		{"splits of a former incarnation are unknown", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1"))
			b.deleteIndex(uid)
			again := b.createIndex(uid.IndexID)
			b.wantNotFoundSplits(b.tryPublish(again, "s1"), "s1")
		}},
		{"splits of another index are unknown", func(b *bundle) {
			uid, other := b.index("a"), b.index("b")
			b.stage(other, newSplit("s1"))
			b.wantNotFoundSplits(b.tryPublish(uid, "s1"), "s1")
			b.wantStates(other, map[string]metastore.SplitState{"s1": metastore.Staged})
		}},
		{"ten clients that each stage and publish their own split all succeed, without a delta", func(b *bundle) {
			b.stageAndPublishConcurrently(10)
		}},
		{"F4 twenty clients that each stage and publish their own split leave twenty Published", func(b *bundle) {
			b.stageAndPublishConcurrently(20)
		}},
		{"publishing nothing succeeds and changes nothing", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			before := b.snapshot(uid)
			b.publish(uid)
			b.wantUnchanged(uid, before)
		}},
		{"canon H14 unknown splits are named in the order of the request, each once", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1"))
			b.wantNotFoundSplits(b.tryPublish(uid, "z", "s1", "a", "z", "m"), "z", "a", "m")
		}},
		{"canon H14 splits in a wrong state are named in the order of the request, each once", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			b.wantFailedPreconditionSplits(b.tryPublish(uid, "published", "staged", "marked", "published"), "published", "marked")
		}},
		{"canon H14 a split named twice is published once", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplits("s1", "s2")...)
			b.publish(uid, "s1", "s2", "s1")
			b.wantIDs(b.inState(uid, metastore.Published), "s1", "s2")
		}},
		{"sixteen clients that publish the same split: one succeeds, the others get FailedPrecondition", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1"))
			errs := b.concurrently(16, func(int) error { return b.tryPublish(uid, "s1") })
			succeeded := 0
			for _, err := range errs {
				if err == nil {
					succeeded++
				} else if !errors.Is(err, metastore.ErrFailedPrecondition) {
					b.Errorf("a client got %v, want FailedPrecondition", err)
				}
			}
			if succeeded != 1 {
				b.Errorf("%d clients succeeded, want one", succeeded)
			}
		}},
	}
}

func (b *bundle) stageAndPublishConcurrently(clients int) {
	b.Helper()
	uid := b.index("a")
	ids := numbered("s", clients)
	for _, err := range b.concurrently(clients, func(i int) error {
		if err := b.tryStage(uid, newSplit(ids[i])); err != nil {
			return err
		}
		return b.tryPublish(uid, ids[i])
	}) {
		if err != nil {
			b.Errorf("a client failed: %v", err)
		}
	}
	b.wantIDs(b.inState(uid, metastore.Published), ids...)
}

// concurrently runs n clients that start together and returns their errors, by client.
func (b *bundle) concurrently(n int, client func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var clients sync.WaitGroup
	for i := range n {
		clients.Go(func() {
			<-start
			errs[i] = client(i)
		})
	}
	close(start)
	clients.Wait()
	return errs
}
