package storetest

import "holdfast/metastore"

// timestampsCases are about the timestamps that a store sets. They wait for the store's clock to show
// another second, because timestamps are whole seconds.
func timestampsCases() []testCase {
	return []testCase{
		{"S-33 to S-35 staging, publishing and marking each move the update timestamp; publishing sets the publish timestamp", func(b *bundle) {
			uid := b.index("a")
			start := b.storeTimeNow()
			b.stage(uid, newSplit("s1"))
			stagedSplit := b.split(uid, "s1")
			if stagedSplit.UpdateTimestamp < start || stagedSplit.PublishTimestamp.Set {
				b.Errorf("staged at %d, want %d or later; publish timestamp %v, want none", stagedSplit.UpdateTimestamp, start, stagedSplit.PublishTimestamp)
			}
			start = b.nextSecond()
			b.publish(uid, "s1")
			publishedSplit := b.split(uid, "s1")
			if publishedSplit.UpdateTimestamp < start || publishedSplit.PublishTimestamp != metastore.Some(publishedSplit.UpdateTimestamp) {
				b.Errorf("published at %d, want %d or later; publish timestamp %v, want the same", publishedSplit.UpdateTimestamp, start, publishedSplit.PublishTimestamp)
			}
			start = b.nextSecond()
			b.mark(uid, "s1")
			markedSplit := b.split(uid, "s1")
			if markedSplit.UpdateTimestamp < start || markedSplit.PublishTimestamp != publishedSplit.PublishTimestamp {
				b.Errorf("marked at %d, want %d or later; publish timestamp %v, want %v kept",
					markedSplit.UpdateTimestamp, start, markedSplit.PublishTimestamp, publishedSplit.PublishTimestamp)
			}
		}},
		{"canon H15 a replaced split keeps its publish timestamp and gets a new update timestamp", func(b *bundle) {
			uid := b.published("s1")
			b.stage(uid, newSplit("s2"))
			before := b.split(uid, "s1")
			later := b.nextSecond()
			b.replace(uid, []string{"s2"}, []string{"s1"})
			got := b.split(uid, "s1")
			if got.PublishTimestamp != before.PublishTimestamp || got.UpdateTimestamp < later {
				b.Errorf("replaced split: published %v (was %v), updated %d (want %d or later)",
					got.PublishTimestamp, before.PublishTimestamp, got.UpdateTimestamp, later)
			}
		}},
		{"H5 the create timestamp follows the rule of the store when a split is staged again", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1", created(1000)))
			first := b.split(uid, "s1")
			later := b.nextSecond()
			b.stage(uid, newSplit("s1", created(2000)))
			second := b.split(uid, "s1")
			if second.UpdateTimestamp < later {
				b.Errorf("update timestamp is %d, want %d or later", second.UpdateTimestamp, later)
			}
			switch b.profile.CreateTimestamp {
			case PayloadCreateTimestamp:
				if first.Metadata.CreateTimestamp != 1000 || second.Metadata.CreateTimestamp != 2000 {
					b.Errorf("create timestamps are %d and %d, want those of the documents", first.Metadata.CreateTimestamp, second.Metadata.CreateTimestamp)
				}
			case StageTime:
				if first.Metadata.CreateTimestamp != first.UpdateTimestamp || second.Metadata.CreateTimestamp != second.UpdateTimestamp {
					b.Errorf("create timestamps are %d and %d, want the times of staging %d and %d", first.Metadata.CreateTimestamp,
						second.Metadata.CreateTimestamp, first.UpdateTimestamp, second.UpdateTimestamp)
				}
			}
		}},
		{"refused calls move no timestamp", func(b *bundle) {
			uid := b.index("a")
			b.lifeCycle(uid)
			before := b.snapshot(uid)
			b.nextSecond()
			b.wantFailedPreconditionSplits(b.tryStage(uid, newSplits("staged", "published")...), "published")
			b.wantFailedPreconditionSplits(b.tryPublish(uid, "staged", "published"), "published")
			b.wantNotFoundSplits(b.tryReplace(uid, []string{"staged"}, []string{"published", "x"}), "x")
			b.wantFailedPreconditionSplits(b.tryDelete(uid, "marked", "staged"), "staged")
			b.wantUnchanged(uid, before)
		}},
		{"canon H4 a filter on the shown update timestamp finds the split, one second less does not", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("s1"))
			at := b.split(uid, "s1").UpdateTimestamp
			for _, c := range []struct {
				name  string
				query span
				found bool
			}{
				{"at most", span{End: metastore.Bound[int64]{Kind: metastore.Included, Value: at}}, true},
				{"before", before(at), false},
				{"after", span{Start: metastore.Bound[int64]{Kind: metastore.Excluded, Value: at}}, false},
				{"from", from(at).onwards(), true},
			} {
				query := metastore.AllSplits(uid)
				query.UpdateTimestamp = c.query
				if got := len(b.rows(query)) == 1; got != c.found {
					b.Errorf("%s its update timestamp: found %v, want %v", c.name, got, c.found)
				}
				query = metastore.AllSplits(uid)
				shifted := b.split(uid, "s1").Metadata.CreateTimestamp - at
				query.CreateTimestamp = c.query
				query.CreateTimestamp.Start.Value += shifted
				query.CreateTimestamp.End.Value += shifted
				if got := len(b.rows(query)) == 1; got != c.found {
					b.Errorf("%s its create timestamp: found %v, want %v", c.name, got, c.found)
				}
			}
		}},
	}
}
