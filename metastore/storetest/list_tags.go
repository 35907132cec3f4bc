package storetest

import "holdfast/metastore"

// listTagsCases are about the tag filter.
func listTagsCases() []testCase {
	return []testCase{
		{"S-73 and S-74 a tree of tag conditions selects; an untagged split passes every absence", func(b *bundle) {
			uid := b.fiveSplits(payloadCreated)
			b.stage(uid, newSplit("s6"))
			b.checkFilters(uid, []filterCase{
				{"S-73", states(metastore.Staged), []string{"s1", "s2", "s3", "s4", "s5", "s6"}},
				{"S-74", func(q *metastore.ListSplitsQuery) {
					q.States = []metastore.SplitState{metastore.Staged}
					q.Tags = anyOf(anyOf(noTag("$tag!"), tag("$tag:bar")), anyOf(noTag("tag!"), tag("tag:baz")))
				}, []string{"s1", "s2", "s3", "s5", "s6"}},
			})
		}},
		{"P5 conjunction and disjunction nest", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("x", tags("x")), newSplit("xy", tags("x", "y")), newSplit("y", tags("y")), newSplit("z", tags("z")), newSplit("none"))
			b.checkFilters(uid, []filterCase{
				{"x", tagged(tag("x")), []string{"x", "xy"}},
				{"not x", tagged(noTag("x")), []string{"y", "z", "none"}},
				{"x and y", tagged(allOf(tag("x"), tag("y"))), []string{"xy"}},
				{"x or y", tagged(anyOf(tag("x"), tag("y"))), []string{"x", "xy", "y"}},
				{"(x or z) and not y", tagged(allOf(anyOf(tag("x"), tag("z")), noTag("y"))), []string{"x", "z"}},
				{"x and (y or z)", tagged(allOf(tag("x"), anyOf(tag("y"), tag("z")))), []string{"xy"}},
				{"(x and y) or z", tagged(anyOf(allOf(tag("x"), tag("y")), tag("z"))), []string{"xy", "z"}},
				{"not x and not y", tagged(allOf(noTag("x"), noTag("y"))), []string{"z", "none"}},
				{"no condition", tagged(allOf()), []string{"x", "xy", "y", "z", "none"}},
			})
		}},
		{"canon H21 an empty disjunction is true, nested ones too", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("x", tags("x")), newSplit("none"))
			b.checkFilters(uid, []filterCase{
				{"empty", tagged(anyOf()), []string{"x", "none"}},
				{"inside a conjunction", tagged(allOf(tag("x"), anyOf())), []string{"x"}},
				{"inside a disjunction", tagged(anyOf(tag("x"), anyOf())), []string{"x", "none"}},
			})
		}},
		{"P4 tags are compared as plain text, whatever they hold", func(b *bundle) {
			uid := b.index("a")
			odd := []string{"$1", "$$tag$$", `it's`, `"quoted"`, `back\slash`, "{a,b}", "%", "_", "NULL", "é", "'; DROP TABLE splits; --", ""}
			for i, value := range odd {
				b.stage(uid, newSplit(numbered("s", len(odd))[i], tags(value)))
			}
			for i, value := range odd {
				query := metastore.AllSplits(uid)
				query.Tags = tag(value)
				b.wantIDs(b.ids(query), numbered("s", len(odd))[i])
			}
		}},
		{"tags are compared exactly, upper and lower case apart", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("lower", tags("tag")), newSplit("upper", tags("Tag")), newSplit("longer", tags("tag2")))
			b.checkFilters(uid, []filterCase{
				{"tag", tagged(tag("tag")), []string{"lower"}},
				{"ta", tagged(tag("ta")), nil},
			})
		}},
		{"a deep tree of conditions is answered", func(b *bundle) {
			uid := b.index("a")
			b.stage(uid, newSplit("x", tags("x")), newSplit("none"))
			filter := tag("x")
			for range 30 { // as deep as JSON may be nested on the wire, 127 levels
				filter = allOf(anyOf(filter))
			}
			b.checkFilters(uid, []filterCase{{"deep", tagged(filter), []string{"x"}}})
		}},
	}
}

func tagged(filter *metastore.TagFilter) func(*metastore.ListSplitsQuery) {
	return func(q *metastore.ListSplitsQuery) { q.Tags = filter }
}
