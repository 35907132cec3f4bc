package containment

import (
	"cmp"
	"container/heap"
	"slices"

	"holdfast/reconcile/splitfile/segment"
)

// family is a group all of whose documents are known. Documents are numbered; members are places in
// the slices below.
type family struct {
	*decider
	members []int       // objects
	place   map[int]int // of an object in members
	seq     [][]int
	closed  []bool // members that get no row, whatever they hold
	// owners are the members, but closed ones, that have a document, sorted.
	owners [][]int
	// repeated documents occur twice in one member, or in two that came from indexers. Only the others
	// tell which splits have to do with each other.
	repeated []bool
	holds    []map[int][]int // holds[c][p]: the places of p in c
	holders  [][]int
	sources  [][]int        // what may be the source of a rewrite
	source   []int          // that of them which is taken for it, -1 if the member is no rewrite
	rewrites [][]int        // by source
	excused  []map[int]bool // documents of a member that a rewrite dropped
	live     []bool
	repeats  []bool // members flagged as Repeat
	kind     []Kind
	by       [][]int
	proof    []Proof
}

// decideDoubtful decides a group document by document.
func (d *decider) decideDoubtful(members []int, candidates map[int][]int) {
	f := newFamily(d, members)
	f.findHolders()
	f.findSources(candidates)
	f.excuse()
	f.excuseReplaced()
	f.choose()
	f.judge()
	f.placeRepeated()
	f.keep()
	f.write()
}

func newFamily(d *decider, members []int) *family {
	n := len(members)
	f := &family{
		decider: d, members: members, place: make(map[int]int, n), seq: make([][]int, n), closed: make([]bool, n), holds: make([]map[int][]int, n),
		holders: make([][]int, n), sources: make([][]int, n), source: make([]int, n), rewrites: make([][]int, n), excused: make([]map[int]bool, n),
		repeats: make([]bool, n), kind: make([]Kind, n), by: make([][]int, n), proof: make([]Proof, n),
	}
	numbers := map[segment.Digest]int{}
	for x, member := range members {
		f.place[member], f.closed[x] = x, d.objects[member].State == Closed
		f.holds[x], f.excused[x], f.source[x] = map[int][]int{}, map[int]bool{}, -1
		docs := d.stores[member].all()
		f.seq[x] = make([]int, len(docs))
		for i, doc := range docs {
			number, known := numbers[doc]
			if !known {
				number = len(numbers)
				numbers[doc] = number
			}
			f.seq[x][i] = number
		}
	}
	f.owners, f.repeated = make([][]int, len(numbers)), make([]bool, len(numbers))
	lastMember, indexed := make([]int, len(numbers)), make([]bool, len(numbers))
	for x, member := range members {
		fromIndexer := !d.objects[member].merged()
		for _, doc := range f.seq[x] {
			if lastMember[doc] == x+1 {
				f.repeated[doc] = true
				continue
			}
			lastMember[doc] = x + 1
			if fromIndexer {
				f.repeated[doc] = f.repeated[doc] || indexed[doc]
				indexed[doc] = true
			}
			if !f.closed[x] {
				f.owners[doc] = append(f.owners[doc], x)
			}
		}
	}
	return f
}

func (f *family) object(x int) *Object { return &f.objects[f.members[x]] }

// findHolders finds where members hold others by their documents, or by lists.
func (f *family) findHolders() {
	beginWith := map[int][]int{} // members by their first documents
	for p, docs := range f.seq {
		if len(docs) > 0 {
			beginWith[docs[0]] = append(beginWith[docs[0]], p)
		}
	}
	looked := make([]int, len(f.members)) // at what, on behalf of the member before this number
	for c, member := range f.members {
		look := func(p int) {
			if looked[p] == c+1 {
				return
			}
			looked[p] = c + 1
			if places := f.places(c, p); places != nil {
				f.holds[c][p] = places
			}
		}
		for p := range f.runs[member] {
			look(f.place[p])
		}
		for _, doc := range f.seq[c] {
			for _, p := range beginWith[doc] {
				look(p)
			}
		}
	}
}

func (f *family) places(c, p int) []int {
	if f.mayHold(f.members[c], f.members[p]) {
		return find(f.seq[p], f.seq[c])
	}
	listed := f.runs[f.members[c]][f.members[p]]
	if len(listed) == 0 {
		return nil
	}
	places := find(f.seq[p], f.seq[c])
	if places == nil && listed[0].proof == ByList {
		if slices.Contains(f.object(c).Parents, f.object(p).ID) {
			f.flag(Contradiction, 0, f.members[c], f.members[p])
		}
		return []int{-1}
	}
	return places
}

// shares says whether two members have a document in common that is not repeated.
func (f *family) shares(x, y int) bool {
	for _, doc := range f.seq[x] {
		if !f.repeated[doc] && slices.Contains(f.owners[doc], y) {
			return true
		}
	}
	return false
}

// findSources finds what each rewrite was made of, and drops the runs that only look like a merge.
func (f *family) findSources(candidates map[int][]int) {
	for r, member := range f.members {
		for _, candidate := range candidates[member] {
			p, there := f.place[candidate]
			if !there || !isSubsequence(f.seq[r], f.seq[p]) || !f.shares(r, p) && !f.closed[p] {
				continue
			}
			f.sources[r] = append(f.sources[r], p)
			if f.source[r] < 0 || f.betterSource(p, f.source[r]) {
				f.source[r] = p
			}
		}
		if p := f.source[r]; p >= 0 {
			f.rewrites[p] = append(f.rewrites[p], r)
			delete(f.holds[p], r)
		}
	}
	for c := range f.members {
		for _, p := range sortedKeys(f.holds[c]) {
			f.holders[p] = append(f.holders[p], c)
		}
	}
}

func (f *family) betterSource(a, b int) bool {
	x, y := f.object(a), f.object(b)
	return cmp.Or(cmp.Compare(x.NumDocs, y.NumDocs), cmp.Compare(y.Opstamp, x.Opstamp), cmp.Compare(a, b)) < 0
}

func isSubsequence(what, in []int) bool {
	for _, doc := range in {
		if len(what) > 0 && what[0] == doc {
			what = what[1:]
		}
	}
	return len(what) == 0
}

// excuse finds the documents that rewrites dropped: a member that shares documents with a rewrite need
// not have those alive that the rewrite's source has and the rewrite has not.
func (f *family) excuse() {
	for r, p := range f.source {
		if p < 0 {
			continue
		}
		kept := map[int]bool{}
		for _, doc := range f.seq[r] {
			kept[doc] = true
		}
		dropped := map[int]bool{}
		for _, doc := range f.seq[p] {
			if !kept[doc] {
				dropped[doc] = true
			}
		}
		if len(dropped) == 0 {
			continue
		}
		sharers := f.sharers(r)
		for doc := range dropped {
			f.excused[p][doc] = true
			for _, x := range f.owners[doc] {
				if sharers[x] {
					f.excused[x][doc] = true
				}
			}
		}
	}
}

// sharers are the members, but closed ones, that share a document with r that is not repeated.
func (f *family) sharers(r int) map[int]bool {
	sharers := map[int]bool{}
	if f.closed[r] {
		return sharers
	}
	for _, doc := range f.seq[r] {
		if !f.repeated[doc] {
			for _, x := range f.owners[doc] {
				sharers[x] = true
			}
		}
	}
	return sharers
}

// excuseReplaced: what a split held that was replaced since was replaced before it.
func (f *family) excuseReplaced() {
	excuse := func(p int) {
		for _, doc := range f.seq[p] {
			f.excused[p][doc] = true
		}
	}
	for x := range f.members {
		if !f.closed[x] {
			continue
		}
		for p := range f.holds[x] {
			excuse(p)
		}
		if p := f.source[x]; p >= 0 {
			excuse(p)
		}
	}
}

// needed says whether a member has a document that no other one has.
func (f *family) needed(x int) bool {
	for _, doc := range f.seq[x] {
		if !f.repeated[doc] && len(f.owners[doc]) == 1 && !f.excused[x][doc] {
			return true
		}
	}
	return false
}

// forced says whether a member is live for another reason than its documents: the lists say so, and
// nothing holds it.
func (f *family) forced(x int) bool {
	return f.object(x).Entry && !f.closed[x] && len(f.holders[x]) == 0
}

// order sorts the members: holders before what they hold, rewrites before their sources, later rewrites
// of one source first, else the younger first.
func (f *family) order() []int {
	before := make([][]int, len(f.members)) // before[x] come after x
	waits := make([]int, len(f.members))
	edge := func(first, then int) {
		before[first] = append(before[first], then)
		waits[then]++
	}
	for p := range f.members {
		for _, c := range f.holders[p] {
			edge(c, p)
		}
		for _, r := range f.rewrites[p] {
			edge(r, p)
			for _, other := range f.rewrites[p] {
				if f.object(r).Opstamp > f.object(other).Opstamp {
					edge(r, other)
				}
			}
		}
	}
	byAge := make([]int, len(f.members))
	for x := range byAge {
		byAge[x] = x
	}
	slices.SortFunc(byAge, func(a, b int) int { return f.younger(a, b) })
	age := make([]int, len(f.members))
	var ready ages
	for i, x := range byAge {
		if age[x] = i; waits[x] <= 0 {
			ready = append(ready, i)
		}
	}
	done := make([]bool, len(f.members))
	order := make([]int, 0, len(f.members))
	for youngest := 0; len(order) < len(f.members); {
		var x int
		if len(ready) > 0 {
			x = byAge[heap.Pop(&ready).(int)]
		} else {
			// Clocks that are off can make a circle; it is cut at the youngest.
			for done[byAge[youngest]] {
				youngest++
			}
			x = byAge[youngest]
		}
		done[x] = true
		order = append(order, x)
		for _, y := range before[x] {
			if waits[y]--; waits[y] == 0 && !done[y] {
				heap.Push(&ready, age[y])
			}
		}
	}
	return order
}

// ages is a heap of places in an order by age.
type ages []int

func (a ages) Len() int           { return len(a) }
func (a ages) Less(i, j int) bool { return a[i] < a[j] }
func (a ages) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *ages) Push(x any)        { *a = append(*a, x.(int)) }
func (a *ages) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// younger compares by the times in the ids, the later first.
func (f *family) younger(a, b int) int {
	x, y := f.object(a), f.object(b)
	return cmp.Or(cmp.Compare(y.Made.Value, x.Made.Value), cmp.Compare(y.ID, x.ID))
}

// choose takes the members that are live for documents that are not repeated: with those that alone
// have some taken in advance, or without, whichever shows fewer documents twice.
func (f *family) choose() {
	order := f.order()
	a := f.cover(order, true)
	f.live = a
	if twice := f.twice(a); twice > 0 {
		if b := f.cover(order, false); f.twice(b) < twice {
			f.live = b
		}
	}
}

func (f *family) cover(order []int, needed bool) []bool {
	taken, covered := make([]bool, len(f.members)), make([]bool, len(f.owners))
	take := func(x int) {
		taken[x] = true
		for _, doc := range f.seq[x] {
			covered[doc] = true
		}
	}
	missing := func(x int) (lacks, apart bool) {
		apart = true
		for _, doc := range f.seq[x] {
			if f.repeated[doc] {
				continue
			}
			if covered[doc] {
				apart = false
			} else if !f.excused[x][doc] {
				lacks = true
			}
		}
		return lacks, apart
	}
	for _, x := range order {
		if f.forced(x) || needed && !f.closed[x] && f.needed(x) {
			take(x)
		}
	}
	for _, apartOnly := range []bool{true, false} {
		for _, x := range order {
			if lacks, apart := missing(x); !taken[x] && !f.closed[x] && lacks && (apart || !apartOnly) {
				take(x)
			}
		}
	}
	return taken
}

// twice counts the documents that are in several members taken.
func (f *family) twice(taken []bool) int {
	count := 0
	for doc, owners := range f.owners {
		n := 0
		for _, x := range owners {
			if taken[x] {
				n++
			}
		}
		if n > 1 && !f.repeated[doc] {
			count++
		}
	}
	return count
}
