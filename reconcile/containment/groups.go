package containment

import (
	"cmp"
	"slices"

	"holdfast/reconcile/splitfile/segment"
)

// groups are objects connected by what they hold, or may have been rewritten from.
type groups struct{ parent []int }

func newGroups(n int) groups {
	g := groups{make([]int, n)}
	for i := range g.parent {
		g.parent[i] = i
	}
	return g
}

func (g groups) find(x int) int {
	for g.parent[x] != x {
		g.parent[x] = g.parent[g.parent[x]]
		x = g.parent[x]
	}
	return x
}

func (g groups) join(a, b int) { g.parent[max(g.find(a), g.find(b))] = min(g.find(a), g.find(b)) }

// members returns the groups, each sorted, in the order of their first members.
func (g groups) members() [][]int {
	at := map[int]int{}
	var all [][]int
	for x := range g.parent {
		root := g.find(x)
		i, known := at[root]
		if !known {
			i = len(all)
			at[root], all = i, append(all, nil)
		}
		all[i] = append(all[i], x)
	}
	return all
}

// doubt says why a group cannot be decided by what its members hold alone.
type doubt uint8

const (
	noDoubt doubt = iota
	// unexplained: a member has documents of which no parent is there, and may never have been published.
	unexplained
	doubtful
)

// decideGroups gives every object a verdict.
func (d *decider) decideGroups() {
	d.verdicts = make([]Verdict, len(d.objects))
	holders := d.holders()
	sources := d.rewriteCandidates(holders)
	g := newGroups(len(d.objects))
	for c := range d.objects {
		for p := range d.runs[c] {
			g.join(c, p)
		}
		for _, p := range sources[c] {
			g.join(c, p)
		}
	}
	d.joinEqual(g)
	// What may be an unpublished sibling of another one is judged together with all that may share
	// documents with it.
	whole := groups{slices.Clone(g.parent)}
	for x := range d.objects {
		if d.isUnexplained(x) {
			d.joinSiblings(x, whole)
		}
	}
	for _, members := range whole.members() {
		d.decideGroup(members, g, sources, holders)
	}
}

func (d *decider) holders() [][]int {
	holders := make([][]int, len(d.objects))
	for c := range d.objects {
		for _, p := range sortedKeys(d.runs[c]) {
			holders[p] = append(holders[p], c)
		}
	}
	return holders
}

// rewriteCandidates returns for each object with a greater opstamp what it may be a rewrite of.
func (d *decider) rewriteCandidates(holders [][]int) map[int][]int {
	candidates := map[int][]int{}
	for r := range d.objects {
		o := &d.objects[r]
		if len(o.Parents) == 1 {
			if p, there := d.index[o.Parents[0]]; there && p != r {
				candidates[r] = []int{p}
				continue
			}
		}
		if o.Opstamp == 0 || !o.merged() || d.options.NoRewrites {
			continue
		}
		d.sources(r, func(p int) {
			if d.mayRewrite(r, p) && !d.holds(r, p) && !d.heldByLater(r, p) {
				candidates[r] = append(candidates[r], p)
			}
		})
		slices.Sort(candidates[r])
	}
	return candidates
}

// heldByLater says whether p holds r and was made after it: then it is a merge of r. If p was replaced and
// both were made at about the same time, r may as well be what replaced it.
func (d *decider) heldByLater(r, p int) bool {
	a, b := &d.objects[r], &d.objects[p]
	return d.holds(p, r) && a.Made.Set && b.Made.Set && b.Made.Value > a.Made.Value &&
		(b.State == Open || d.certainlyAfter(p, r))
}

// certainlyAfter says whether a was made after b, however far their clocks are apart.
func (d *decider) certainlyAfter(a, b int) bool {
	x, y := &d.objects[a], &d.objects[b]
	return x.Made.Set && y.Made.Set && x.Made.Value > y.Made.Value+d.clock.skew
}

// joinEqual joins merged objects with those that have the same blocks and the same checksum.
func (d *decider) joinEqual(g groups) {
	type content struct {
		docs     uint64
		blocks   int
		checksum uint32
		first    segment.Block
	}
	known := map[content]int{}
	for x := range d.objects {
		o := &d.objects[x]
		if !o.merged() || len(o.Blocks) == 0 {
			continue
		}
		key := content{o.NumDocs, len(o.Blocks), o.AreaChecksum, o.Blocks[0]}
		if y, again := known[key]; again {
			g.join(x, y)
		} else {
			known[key] = x
		}
	}
}

// doubtsOf says whether what the members hold decides the group.
func (d *decider) doubtsOf(members []int, sources map[int][]int, holders [][]int) doubt {
	if len(members) > 1 {
		for _, x := range members {
			if d.objects[x].Opstamp > 0 || len(sources[x]) > 0 || !d.isChain(holders[x]) || !d.plain(x) {
				return doubtful
			}
		}
		if d.equalMembers(members) {
			return doubtful
		}
	}
	for _, x := range members {
		if d.isUnexplained(x) {
			return unexplained
		}
	}
	return noDoubt
}

// isChain says whether of any two holders one holds the other.
func (d *decider) isChain(holders []int) bool {
	for i, a := range holders {
		for _, b := range holders[:i] {
			if !d.holds(a, b) && !d.holds(b, a) {
				return false
			}
		}
	}
	return true
}

// plain says whether x holds each object once, and whether these nest or are disjoint.
func (d *decider) plain(x int) bool {
	type placed struct{ from, to int }
	var spans []placed
	for p, runs := range d.runs[x] {
		if len(runs) != 1 {
			return false
		}
		if at := runs[0].at; at >= 0 {
			spans = append(spans, placed{at, at + int(d.objects[p].NumDocs)})
		}
	}
	slices.SortFunc(spans, func(a, b placed) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	var open []placed // each within the one before it
	for i, s := range spans {
		for len(open) > 0 && open[len(open)-1].to <= s.from {
			open = open[:len(open)-1]
		}
		if i > 0 && s == spans[i-1] || len(open) > 0 && s.to > open[len(open)-1].to {
			return false
		}
		open = append(open, s)
	}
	return true
}

// equalMembers says whether two members are known to have equal content.
func (d *decider) equalMembers(members []int) bool {
	type outline struct {
		docs     uint64
		checksum uint32
		blocks   int
	}
	known := map[outline][]int{}
	for _, a := range members {
		x := &d.objects[a]
		key := outline{x.NumDocs, x.AreaChecksum, len(x.Blocks)}
		if slices.ContainsFunc(known[key], func(b int) bool { return slices.Equal(x.Blocks, d.objects[b].Blocks) }) {
			return true
		}
		known[key] = append(known[key], a)
	}
	return false
}

// isUnexplained says whether an object that may never have been published has documents that are in
// nothing that it holds.
func (d *decider) isUnexplained(x int) bool {
	o := &d.objects[x]
	if o.State == Closed || !o.merged() || !d.clock.mayBeUnpublished(o) {
		return false
	}
	if o.Entry {
		// Its list says where its documents are from.
		return slices.ContainsFunc(o.Parents, func(id string) bool { _, there := d.index[id]; return !there })
	}
	var spans [][2]int
	for p, runs := range d.runs[x] {
		for _, r := range runs {
			if r.at < 0 {
				return false
			}
			spans = append(spans, [2]int{r.at, r.at + int(d.objects[p].NumDocs)})
		}
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	next := 0
	for _, s := range spans {
		if s[0] > next {
			return true
		}
		next = max(next, s[1])
	}
	return next < int(o.NumDocs)
}

// decideGroup decides objects that are connected. The smaller groups within it are those without what
// is only connected because something in it may be an unpublished sibling.
func (d *decider) decideGroup(members []int, smaller groups, sources map[int][]int, holders [][]int) {
	if d.doubtsOf(members, sources, holders) == noDoubt {
		d.decideClean(members, holders)
		return
	}
	if len(members) == 1 {
		d.decideClean(members, holders) // there is nothing that it could share documents with
		return
	}
	refused := false
	for _, x := range members {
		if missing := d.stores[x].missing(0, len(d.objects[x].Blocks)); len(missing) > 0 && !d.need(x, missing) {
			refused = true
		}
	}
	if refused {
		for _, x := range members {
			delete(d.needs, x)
		}
		d.decideUnread(members, smaller, sources, holders)
		return
	}
	if len(d.needs) == 0 {
		d.decideDoubtful(members, sources)
	}
}

// decideUnread decides what can be decided of a group without its documents.
func (d *decider) decideUnread(members []int, smaller groups, sources map[int][]int, holders [][]int) {
	parts := map[int][]int{}
	for _, x := range members {
		parts[smaller.find(x)] = append(parts[smaller.find(x)], x)
	}
	for _, root := range sortedKeys(parts) {
		part := parts[root]
		switch d.doubtsOf(part, sources, holders) {
		case doubtful:
			for _, x := range part {
				d.leaveUnread(x, others(part, x))
			}
		case unexplained:
			d.decideClean(part, holders)
			for _, x := range part {
				if d.isUnexplained(x) && d.verdicts[x].Kind == Live {
					d.flag(UncheckedOverlap, 0, x)
				}
			}
		default:
			d.decideClean(part, holders)
		}
	}
}

// mostNamed bounds how many others a doubt about a split that was not read names.
const mostNamed = 100

func others(members []int, x int) []int {
	few := slices.Clone(members[:min(len(members), mostNamed+1)])
	few = slices.DeleteFunc(few, func(y int) bool { return y == x })
	return few[:min(len(few), mostNamed)]
}

func (d *decider) leaveUnread(x int, by []int) {
	d.verdicts[x] = Verdict{ID: d.objects[x].ID, Kind: Unread, By: d.ids(by)}
	if d.objects[x].State == Open && d.flag(Unchecked, 0, append([]int{x}, by...)...).Accepted {
		d.verdicts[x].Kind = Live
	}
}

// decideClean: what nobody holds is live.
func (d *decider) decideClean(members []int, holders [][]int) {
	for _, x := range members {
		v := &d.verdicts[x]
		*v = Verdict{ID: d.objects[x].ID, Kind: Live}
		if len(holders[x]) == 0 {
			if by := d.unchecked[x]; len(by) > 0 && d.objects[x].State == Open {
				d.leaveUnread(x, by)
			}
			continue
		}
		smallest := holders[x][0]
		for _, c := range holders[x] {
			if d.objects[c].NumDocs < d.objects[smallest].NumDocs {
				smallest = c
			}
		}
		v.Kind, v.By, v.Proof = Superseded, d.ids([]int{smallest}), d.runs[smallest][x][0].proof
		d.flagOldCover(x, smallest)
	}
}

// flagOldCover: a file that should have been collected long ago.
func (d *decider) flagOldCover(x, c int) {
	if !d.objects[x].Entry && !d.clock.mayHaveParents(&d.objects[c]) {
		d.flag(OldCover, 0, x, c)
	}
}

func (d *decider) ids(of []int) []string {
	ids := make([]string, len(of))
	for i, x := range of {
		ids[i] = d.objects[x].ID
	}
	return ids
}
