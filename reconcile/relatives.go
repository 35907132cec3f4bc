package reconcile

import (
	"cmp"
	"slices"
	"sort"

	"holdfast/metastore"
	"holdfast/reconcile/containment"
	"holdfast/reconcile/splitfile/segment"
)

// relatives tells which files with an entry may hold one of those without, or be held by one, by what is
// known without reading them.
type relatives struct {
	all, merged periods
	holders     []*containment.Object // those without an entry that may hold others
}

func newRelatives(legacy []containment.Object) *relatives {
	r := &relatives{}
	for i := range legacy {
		r.all.add(legacy[i].TimeRange)
		if legacy[i].Origin != segment.Indexed {
			r.merged.add(legacy[i].TimeRange)
			r.holders = append(r.holders, &legacy[i])
		}
	}
	r.all.sort()
	r.merged.sort()
	return r
}

func (r *relatives) of(object *splitObject) bool {
	m := &object.metadata
	if len(object.parents) > 0 {
		return r.all.overlap(m.TimeRange)
	}
	return r.merged.overlap(m.TimeRange) && slices.ContainsFunc(r.holders, func(l *containment.Object) bool {
		return m.NumDocs < l.NumDocs && (!m.TimeRange.Set || !l.TimeRange.Set ||
			m.TimeRange.Value.Start <= l.TimeRange.Value.End && l.TimeRange.Value.Start <= m.TimeRange.Value.End)
	})
}

// periods are time ranges, sorted by their starts.
type periods struct {
	unknown bool // one of them may be any
	ranges  []metastore.TimeRange
	latest  []int64 // end of the ranges up to each one
}

func (p *periods) add(r metastore.Optional[metastore.TimeRange]) {
	if !r.Set {
		p.unknown = true
		return
	}
	p.ranges = append(p.ranges, r.Value)
}

func (p *periods) sort() {
	slices.SortFunc(p.ranges, func(a, b metastore.TimeRange) int { return cmp.Compare(a.Start, b.Start) })
	for i, r := range p.ranges {
		if i > 0 {
			r.End = max(r.End, p.latest[i-1])
		}
		p.latest = append(p.latest, r.End)
	}
}

// overlap says whether one of them may have a time in common with r.
func (p *periods) overlap(r metastore.Optional[metastore.TimeRange]) bool {
	if p.unknown || !r.Set {
		return p.unknown || len(p.ranges) > 0
	}
	begun := sort.Search(len(p.ranges), func(i int) bool { return p.ranges[i].Start > r.Value.End })
	return begun > 0 && p.latest[begun-1] >= r.Value.Start
}
