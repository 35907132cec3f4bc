package storetest

import (
	"math"

	"holdfast/metastore"
)

func included(value int64) metastore.Bound[int64] {
	return metastore.Bound[int64]{Kind: metastore.Included, Value: value}
}

func excluded(value int64) metastore.Bound[int64] {
	return metastore.Bound[int64]{Kind: metastore.Excluded, Value: value}
}

// parquetTimeCases are about the filters on the times of Parquet splits.
func parquetTimeCases() []parquetCase {
	const (
		windowStart = 1_700_000_000
		sortFields  = "metric_name|host|timestamp_secs/V2"
		otherFields = "metric_name|timestamp_secs/V2"
	)
	stageWindows := func(b *parquetBundle) metastore.IndexUID {
		uid := b.index("a")
		b.stage(uid, b.newSplit(uid, "s1", compactionWindow(windowStart, 3600, sortFields)),
			b.newSplit(uid, "s2", compactionWindow(windowStart+3600, 3600, sortFields)),
			b.newSplit(uid, "s3", compactionWindow(windowStart, 3600, otherFields)),
			b.newSplit(uid, "s4", func(m *metastore.ParquetSplitMetadata) { m.SortFields = sortFields }),
			b.newSplit(uid, "s5"))
		return uid
	}
	return []parquetCase{
		{"S-106 a time range keeps splits whose data it meets", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplit(uid, "s1", dataRange(1000, 2000)), b.newSplit(uid, "s2", dataRange(3000, 4000)), b.newSplit(uid, "s3", dataRange(5000, 6000)))
			for _, c := range []struct {
				start, end metastore.Bound[int64]
				want       []string
			}{
				{included(1500), included(3500), []string{"s1", "s2"}},
				{included(2000), included(2000), []string{"s1"}}, // the end counts as inclusive
				{excluded(2000), metastore.Bound[int64]{}, []string{"s2", "s3"}},
				{metastore.Bound[int64]{}, excluded(3000), []string{"s1"}},
				{metastore.Bound[int64]{}, included(3000), []string{"s1", "s2"}},
				{included(2001), included(2999), nil},
				{included(4000), included(1000), nil},
				{included(math.MinInt64), included(math.MaxInt64), []string{"s1", "s2", "s3"}},
			} {
				query := b.all(uid)
				query.TimeRange = metastore.FilterRange[int64]{Start: c.start, End: c.end}
				b.wantListed(query, c.want...)
			}
		}},
		{"a maximum of the end keeps splits whose data ends there or before", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplit(uid, "s1", dataRange(1000, 2000)), b.newSplit(uid, "s2", dataRange(1000, 2001)))
			query := b.all(uid)
			query.MaxTimeRangeEnd = metastore.Some(int64(2000))
			b.wantListed(query, "s1")
		}},
		{"S-108 with sort fields the time range is about windows", func(b *parquetBundle) {
			uid := stageWindows(b)
			query := b.all(uid)
			query.SortFields = metastore.Some(sortFields)
			query.TimeRange = metastore.FilterRange[int64]{Start: included(windowStart), End: excluded(windowStart + 3600)}
			b.wantListed(query, "s1")
		}},
		{"canon H35 the window before one that starts where the query does is not met", func(b *parquetBundle) {
			uid := stageWindows(b)
			query := b.all(uid)
			query.SortFields = metastore.Some(sortFields)
			query.TimeRange = metastore.FilterRange[int64]{Start: included(windowStart + 3600), End: excluded(windowStart + 7200)}
			b.wantListed(query, "s2")
			query.TimeRange.Start = included(windowStart + 3599)
			b.wantListed(query, "s1", "s2")
			query.TimeRange.Start = excluded(windowStart + 3599)
			b.wantListed(query, "s2")
		}},
		{"sort fields must be equal; without bounds, splits without a window are listed too", func(b *parquetBundle) {
			uid := stageWindows(b)
			for fields, want := range map[string][]string{sortFields: {"s1", "s2", "s4"}, otherFields: {"s3"}, "": {"s5"}, "metric_name": nil, "\x00": nil} {
				query := b.all(uid)
				query.SortFields = metastore.Some(fields)
				b.wantListed(query, want...)
			}
		}},
		{"a bound drops splits without a window", func(b *parquetBundle) {
			uid := stageWindows(b)
			query := b.all(uid)
			query.SortFields = metastore.Some(sortFields)
			query.TimeRange.End = included(math.MaxInt64)
			b.wantListed(query, "s1", "s2")
		}},
		{"S-109 S-110 S-111 maturity counts in whole seconds from when the file was written", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplit(uid, "mature"), b.newSplit(uid, "immature", immatureFrom(100, 10_999)))
			for _, c := range []struct {
				kind metastore.MaturityFilterKind
				at   int64
				want []string
			}{
				{metastore.ImmatureAt, 109, []string{"immature"}},
				{metastore.MatureAt, 109, []string{"mature"}},
				{metastore.MatureAt, 110, []string{"immature", "mature"}},
				{metastore.ImmatureAt, 110, nil},
				{metastore.MatureAt, -1, []string{"mature"}},
				{metastore.ImmatureAt, -1, []string{"immature"}},
				{metastore.AnyMaturity, 0, []string{"immature", "mature"}},
			} {
				query := b.all(uid)
				query.Maturity = metastore.MaturityFilter{Kind: c.kind, At: c.at}
				b.wantListed(query, c.want...)
			}
		}},
		{"canon H37 update timestamps are whole seconds, in answers and in filters", func(b *parquetBundle) {
			uid := b.index("a")
			b.stage(uid, b.newSplit(uid, "s1"))
			updated := b.list(b.all(uid))[0].UpdateTimestamp
			if now := b.storeTimeNow(); updated > now {
				b.Fatalf("update timestamp %d lies in the future; it is %d", updated, now)
			}
			for _, c := range []struct {
				filter metastore.FilterRange[int64]
				want   []string
			}{
				{metastore.FilterRange[int64]{Start: included(updated), End: included(updated)}, []string{"s1"}},
				{metastore.FilterRange[int64]{Start: excluded(updated)}, nil},
				{metastore.FilterRange[int64]{End: excluded(updated)}, nil},
				{metastore.FilterRange[int64]{Start: excluded(updated - 1), End: excluded(updated + 1)}, []string{"s1"}},
				{metastore.FilterRange[int64]{Start: included(math.MinInt64), End: included(math.MaxInt64)}, []string{"s1"}},
			} {
				query := b.all(uid)
				query.UpdateTimestamp = c.filter
				b.wantListed(query, c.want...)
				query = b.all(uid)
				query.CreateTimestamp = c.filter
				b.wantListed(query, c.want...)
			}
		}},
	}
}
