package storetest

import "holdfast/metastore"

// onlyIDs selects splits of an index by id.
func onlyIDs(uid metastore.IndexUID, ids ...string) *metastore.ListSplitsQuery {
	query := metastore.AllSplits(uid)
	query.IncludedSplitIDs = ids
	return query
}

// staged selects the Staged splits of an index.
func staged(uid metastore.IndexUID) *metastore.ListSplitsQuery {
	query := metastore.AllSplits(uid)
	query.States = []metastore.SplitState{metastore.Staged}
	return query
}

// span is a range under construction; its start is inclusive and its end exclusive.
type span = metastore.FilterRange[int64]

// from is the range [start, ...).
func from(start int64) rangeBuilder {
	return rangeBuilder{span{Start: metastore.Bound[int64]{Kind: metastore.Included, Value: start}}}
}

// before is the range (..., end).
func before(end int64) span {
	return span{End: metastore.Bound[int64]{Kind: metastore.Excluded, Value: end}}
}

type rangeBuilder struct{ span }

// until closes the range: [start, end).
func (r rangeBuilder) until(end int64) span {
	r.End = metastore.Bound[int64]{Kind: metastore.Excluded, Value: end}
	return r.span
}

// onwards leaves the range open: [start, ...).
func (r rangeBuilder) onwards() span { return r.span }

// tag keeps splits that have a tag.
func tag(value string) *metastore.TagFilter {
	return &metastore.TagFilter{Op: metastore.TagLeaf, Tag: value, Present: true}
}

// noTag keeps splits that lack a tag.
func noTag(value string) *metastore.TagFilter {
	return &metastore.TagFilter{Op: metastore.TagLeaf, Tag: value}
}

// allOf and anyOf combine filters.
func allOf(children ...*metastore.TagFilter) *metastore.TagFilter {
	return combine(metastore.TagAnd, children)
}

func anyOf(children ...*metastore.TagFilter) *metastore.TagFilter {
	return combine(metastore.TagOr, children)
}

func combine(op metastore.TagFilterOp, children []*metastore.TagFilter) *metastore.TagFilter {
	filter := &metastore.TagFilter{Op: op}
	for _, child := range children {
		filter.Children = append(filter.Children, *child)
	}
	return filter
}
