package storetest

import (
	"fmt"
	"maps"
	"strings"

	"holdfast/metastore"
)

// publishDeltaCases are about checkpoint deltas of sources that keep their progress in the metadata of the index.
func publishDeltaCases() []testCase {
	return []testCase{
		{"S-1 a delta in an unknown index gives NotFound of the index", func(b *bundle) {
			unknown := b.unknownIndex()
			b.wantNotFoundIndex(b.tryPublishDelta(unknown, delta("src", step("", "", at(10)))), unknown)
		}},
		{"S-2 a delta without splits moves the checkpoint", func(b *bundle) {
			uid := b.indexWith(voidSource)
			b.publishDelta(uid, delta("src", step("", "", at(99))))
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": {"": at(99)}})
		}},
		{"S-3 a delta with an unknown split in an unknown index gives NotFound of the index", func(b *bundle) {
			unknown := b.unknownIndex()
			b.wantNotFoundIndex(b.tryPublishDelta(unknown, delta("src", step("", "", at(10))), "x"), unknown)
		}},
		{"S-4 a delta under another incarnation gives NotFound of the index", func(b *bundle) {
			uid := b.indexWith(voidSource)
			b.stage(uid, newSplit("s1"))
			b.wantNotFoundIndex(b.tryPublishDelta(otherIncarnation(uid), delta("src", step("", "", at(10))), "s1"), uid)
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": {}})
			b.wantStates(uid, map[string]metastore.SplitState{"s1": metastore.Staged})
		}},
		{"S-7 S-8 S-13 a split in a wrong state gives FailedPrecondition of it, and the checkpoint stays", func(b *bundle) {
			uid := b.indexWith(voidSource)
			b.lifeCycle(uid)
			before := b.snapshot(uid)
			b.publishDelta(uid, delta("src", step("", at(1), at(12))))
			for _, id := range []string{"published", "marked"} {
				b.wantFailedPreconditionSplits(b.tryPublishDelta(uid, delta("src", step("", at(12), at(15))), id), id)
				b.wantFailedPreconditionSplits(b.tryPublishDelta(uid, delta("src", step("", at(12), at(15))), "staged", id), id)
			}
			b.wantUnchanged(uid, before)
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": {"": at(12)}})
		}},
		{"S-9 S-10 S-11 an unknown split beats one in a wrong state, and the checkpoint stays", func(b *bundle) {
			uid := b.indexWith(voidSource)
			b.lifeCycle(uid)
			for _, id := range []string{"staged", "published", "marked"} {
				b.wantNotFoundSplits(b.tryPublishDelta(uid, delta("src", step("", "", at(18))), id, "x"), "x")
			}
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": {}})
			b.wantIDs(b.inState(uid, metastore.Staged), "staged")
		}},
		{"S-12 splits staged by two calls are published by one, with its delta", func(b *bundle) {
			uid := b.indexWith(voidSource)
			b.stage(uid, newSplit("s1"))
			b.stage(uid, newSplit("s2"))
			b.publishDelta(uid, delta("src", step("", at(24), at(26))), "s1", "s2")
			b.wantIDs(b.inState(uid, metastore.Published), "s1", "s2")
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": {"": at(26)}})
		}},
		{"S-14 the same delta again gives FailedPrecondition of the delta, which is checked before the splits", func(b *bundle) {
			uid := b.indexWith(voidSource)
			b.stage(uid, newSplits("s1", "s2")...)
			b.publishDelta(uid, delta("src", step("", at(30), at(31))), "s1", "s2")
			b.wantIncompatible(b.tryPublishDelta(uid, delta("src", step("", at(30), at(31))), "s1", "s2"), uid, "src")
			b.wantIncompatible(b.tryPublishDelta(uid, delta("src", step("", at(30), at(31))), "x"), uid, "src")
		}},
		{"S-16 ten clients that each stage a split and publish it with a partition of their own all succeed", func(b *bundle) {
			uid := b.indexWith(voidSource)
			const publishers = 10
			want := metastore.SourceCheckpoint{}
			for i, err := range b.concurrently(publishers, func(i int) error {
				id := fmt.Sprintf("s%02d", i)
				if err := b.tryStage(uid, newSplit(id)); err != nil {
					return err
				}
				return b.tryPublishDelta(uid, delta("src", step(partition(i), "", at(i))), id)
			}) {
				if err != nil {
					b.Errorf("client %d failed: %v", i, err)
				}
				want[partition(i)] = at(i)
			}
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": want})
			if got := len(b.inState(uid, metastore.Published)); got != publishers {
				b.Errorf("%d splits are published, want %d", got, publishers)
			}
		}},
		{"a delta of an unknown source gives NotFound of the source, before the splits and also without partitions", func(b *bundle) {
			uid := b.indexWith(otherSource)
			b.wantNotFoundSource(b.tryPublishDelta(uid, delta("src", step("", "", at(1))), "x"), uid, "src")
			b.wantNotFoundSource(b.tryPublishDelta(uid, delta("src")), uid, "src")
			b.wantNotFoundSource(b.tryPublishDelta(uid, delta("a\x00b", step("", "", at(1)))), uid, "a\x00b")
		}},
		{"a delta without partitions publishes and moves nothing", func(b *bundle) {
			uid := b.indexWith(voidSource)
			b.resetCheckpoint(uid, "src")
			b.stage(uid, newSplit("s1"))
			b.publishDelta(uid, delta("src"), "s1")
			b.wantIDs(b.inState(uid, metastore.Published), "s1")
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{})
		}},
		{"a publish token is not looked at, unless the source uses shards", func(b *bundle) {
			uid := b.indexWith(voidSource)
			for i, token := range []metastore.Optional[string]{{}, metastore.Some(""), metastore.Some("any")} {
				err := b.store.PublishSplits(b.ctx, metastore.PublishSplitsRequest{
					IndexUID: uid, Delta: delta("src", step("p", at(i), at(i+1))), PublishToken: token,
				})
				if err != nil {
					b.Errorf("token %+v: %v", token, err)
				}
			}
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": {"p": at(3)}})
		}},
		{"positions that may follow each other, and those that may not", func(b *bundle) {
			for i, c := range []struct {
				current, from, to metastore.Position
				fits              bool
			}{
				{at(9), at(9), at(25), true},
				{at(9), at(40), at(60), true},
				{at(9), at(5), at(30), false},
				{at(9), "", at(30), false},
				{at(9), at(9), "~" + at(9), true},
				{"~" + at(9), at(9), at(12), false},
				{"~" + at(9), "~", "~" + at(9), false},
				{"~", "~", "~" + at(1), true},
				{"9a", "é", "ê", true},
				{"é", "9", "~", false},
				{"9", "10", "11", false},
				{`a"\` + "\n", `a"\` + "\n", "b\u0001é", true},
			} {
				uid := b.index(fmt.Sprint("i", i))
				b.addSource(uid, voidSource)
				b.publishDelta(uid, delta("src", step("p", "", c.current)))
				err := b.tryPublishDelta(uid, delta("src", step("p", c.from, c.to)))
				want := c.to
				if !c.fits {
					b.wantIncompatible(err, uid, "src")
					want = c.current
				} else if err != nil {
					b.Errorf("at %q, from %q to %q: %v", c.current, c.from, c.to, err)
				}
				b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": {"p": want}})
			}
		}},
		{"an unknown partition may begin anywhere", func(b *bundle) {
			uid := b.indexWith(voidSource)
			b.publishDelta(uid, delta("src", step("p", at(500), at(520)), step("q", "~", "~1"), step("a\x00b", "", "1")))
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": {"p": at(520), "q": "~1", "a\x00b": "1"}})
		}},
		{"one partition that does not fit refuses the whole delta", func(b *bundle) {
			uid := b.indexWith(voidSource)
			b.publishDelta(uid, delta("src", step("a", "", at(5)), step("b", "", at(5))))
			err := b.tryPublishDelta(uid, delta("src", step("a", at(5), at(6)), step("b", at(4), at(6)), step("c", "", at(6))))
			b.wantIncompatible(err, uid, "src")
			for _, part := range []string{`"b"`, string(at(5)), string(at(4))} {
				if !strings.Contains(err.Error(), part) {
					b.Errorf("the error does not name %s: %v", part, err)
				}
			}
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": {"a": at(5), "b": at(5)}})
		}},
		{"canon H10 a delta that goes back, or nowhere, gives InvalidArgument and changes nothing", func(b *bundle) {
			uid := b.indexWith(voidSource)
			b.stage(uid, newSplit("s1"))
			b.publishDelta(uid, delta("src", step("p", "", at(5))))
			for _, to := range []metastore.Position{at(5), at(4), ""} {
				b.wantKind(b.tryPublishDelta(uid, delta("src", step("p", at(5), to)), "s1"), metastore.KindInvalidArgument)
			}
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": {"p": at(5)}})
			b.wantIDs(b.inState(uid, metastore.Staged), "s1")
		}},
		{"splits are replaced in the same step in which the checkpoint moves", func(b *bundle) {
			uid := b.indexWith(voidSource)
			b.stage(uid, newSplits("old", "new")...)
			b.publishDelta(uid, delta("src", step("p", "", at(1))), "old")
			request := metastore.PublishSplitsRequest{
				IndexUID: uid, StagedSplitIDs: []string{"new", "new"}, ReplacedSplitIDs: []string{"old"}, Delta: delta("src", step("p", at(1), at(2))),
			}
			if err := b.store.PublishSplits(b.ctx, request); err != nil {
				b.Fatal(err)
			}
			b.wantStates(uid, map[string]metastore.SplitState{"old": metastore.MarkedForDeletion, "new": metastore.Published})
			if !b.split(uid, "old").PublishTimestamp.Set {
				b.Error("the replaced split lost its publish timestamp")
			}
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": {"p": at(2)}})
		}},
		{"a split in both lists gives FailedPrecondition, and the checkpoint stays", func(b *bundle) {
			uid := b.indexWith(voidSource)
			b.stage(uid, newSplit("s1"))
			err := b.store.PublishSplits(b.ctx, metastore.PublishSplitsRequest{
				IndexUID: uid, StagedSplitIDs: []string{"s1"}, ReplacedSplitIDs: []string{"s1"}, Delta: delta("src", step("p", "", at(2))),
			})
			b.wantFailedPreconditionSplits(err, "s1")
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": {}})
		}},
		{"a publish with a delta sets the timestamps as one without", func(b *bundle) {
			uid := b.indexWith(voidSource)
			b.stage(uid, newSplit("s1"))
			staged := b.split(uid, "s1").UpdateTimestamp
			b.nextSecond()
			b.publishDelta(uid, delta("src", step("p", "", at(2))), "s1")
			got := b.split(uid, "s1")
			if got.UpdateTimestamp <= staged || got.PublishTimestamp != metastore.Some(got.UpdateTimestamp) {
				b.Errorf("staged at %d; updated at %d and published at %+v", staged, got.UpdateTimestamp, got.PublishTimestamp)
			}
		}},
		{"a checkpoint of a thousand partitions is kept", func(b *bundle) {
			uid := b.indexWith(voidSource)
			want := metastore.SourceCheckpoint{}
			d := delta("src")
			for i := range 1000 {
				d.Partitions[partition(i)] = metastore.PartitionDelta{To: at(i + 1)}
				want[partition(i)] = at(i + 1)
			}
			b.publishDelta(uid, d)
			b.wantCheckpoint(uid, metastore.IndexCheckpoint{"src": want})
		}},
	}
}

// step is the progress of one partition.
func step(partition string, from, to metastore.Position) func(*metastore.CheckpointDelta) {
	return func(d *metastore.CheckpointDelta) {
		d.Partitions[partition] = metastore.PartitionDelta{From: from, To: to}
	}
}

func delta(sourceID string, steps ...func(*metastore.CheckpointDelta)) *metastore.CheckpointDelta {
	d := &metastore.CheckpointDelta{SourceID: sourceID, Partitions: map[string]metastore.PartitionDelta{}}
	for _, step := range steps {
		step(d)
	}
	return d
}

// at is a numeric offset as the peer writes it.
func at(offset int) metastore.Position { return metastore.Position(fmt.Sprintf("%020d", offset)) }

// partition is the id of a numbered partition as the peer writes it.
func partition(n int) string { return fmt.Sprintf("%020d", n) }

func (b *bundle) publishDelta(uid metastore.IndexUID, delta *metastore.CheckpointDelta, staged ...string) {
	b.Helper()
	if err := b.tryPublishDelta(uid, delta, staged...); err != nil {
		b.Fatalf("publish %v with %+v: %v", staged, *delta, err)
	}
}

func (b *bundle) tryPublishDelta(uid metastore.IndexUID, delta *metastore.CheckpointDelta, staged ...string) error {
	return b.store.PublishSplits(b.ctx, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: staged, Delta: delta})
}

// wantCheckpoint checks the whole checkpoint of an index.
func (b *bundle) wantCheckpoint(uid metastore.IndexUID, want metastore.IndexCheckpoint) {
	b.Helper()
	if got := b.metadata(uid).Checkpoint; !maps.EqualFunc(got, want, maps.Equal) {
		b.Fatalf("the checkpoint is %v, want %v", got, want)
	}
}

// wantIncompatible checks that a publish failed because its delta begins before what is published.
func (b *bundle) wantIncompatible(err error, uid metastore.IndexUID, sourceID string) {
	b.Helper()
	b.wantError(err, metastore.KindFailedPrecondition, metastore.Entity{Kind: metastore.EntityCheckpointDelta, IndexID: uid.IndexID, SourceID: sourceID})
}
