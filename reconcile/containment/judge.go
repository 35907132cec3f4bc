package containment

import (
	"cmp"
	"slices"
)

// judge gives a verdict to each member: those taken are live, the others superseded if a chain of holders
// or rewrites leads from them to one that is live, or was, and else orphans.
func (f *family) judge() {
	for x := range f.members {
		switch {
		case f.live[x]:
			f.kind[x] = Live
		case f.onlyRepeated(x):
			// placeRepeated decides
		default:
			f.judgeDead(x)
		}
	}
}

func (f *family) onlyRepeated(x int) bool {
	return !f.closed[x] && !slices.ContainsFunc(f.seq[x], func(doc int) bool { return !f.repeated[doc] })
}

func (f *family) judgeDead(x int) {
	next, proof, found := f.chain(x)
	if found {
		f.kind[x], f.by[x], f.proof[x] = Superseded, []int{next}, proof
		return
	}
	f.kind[x], f.proof[x] = Orphan, ByDocuments
	seen := map[int]bool{}
	for _, doc := range f.seq[x] {
		for _, y := range f.owners[doc] {
			if f.live[y] && !seen[y] {
				seen[y] = true
				f.by[x] = append(f.by[x], y)
			}
		}
	}
	slices.Sort(f.by[x])
}

// chain looks for the shortest chain from x to a member that is live or was replaced. It returns its first
// link and the proof of that: what follows it is the business of that member.
func (f *family) chain(x int) (next int, proof Proof, found bool) {
	type step struct {
		at, first int
		proof     Proof
	}
	steps := []step{{at: x, first: -1}}
	seen := map[int]bool{x: true}
	for len(steps) > 0 {
		s := steps[0]
		steps = steps[1:]
		if s.at != x && (f.live[s.at] || f.closed[s.at]) {
			return s.first, s.proof, true
		}
		follow := func(y int, proof Proof) {
			if !seen[y] {
				seen[y] = true
				next := step{y, s.first, s.proof}
				if s.first < 0 {
					next.first, next.proof = y, proof
				}
				steps = append(steps, next)
			}
		}
		for _, c := range f.holders[s.at] {
			follow(c, f.linkProof(c, s.at))
		}
		for _, r := range f.rewrites[s.at] {
			follow(r, ByRewrite)
		}
	}
	return 0, 0, false
}

func (f *family) linkProof(c, p int) Proof {
	if f.holds[c][p][0] < 0 {
		return ByList
	}
	return ByDocuments
}

// placeRepeated decides the members all of whose documents are repeated. As many of them as the holders
// have places for are in these; which of equal ones, does not matter.
func (f *family) placeRepeated() {
	var rest []int
	for x := range f.members {
		if f.kind[x] == 0 {
			rest = append(rest, x)
		}
	}
	slices.SortFunc(rest, func(a, b int) int {
		return cmp.Or(cmp.Compare(len(f.seq[b]), len(f.seq[a])), f.younger(b, a))
	})
	used := make([][][2]int, len(f.members)) // ranges of documents by holder
	for _, x := range rest {
		if f.kind[x] != 0 {
			continue
		}
		var class []int
		for _, y := range rest {
			if f.kind[y] == 0 && slices.Equal(f.seq[x], f.seq[y]) {
				class = append(class, y)
			}
		}
		f.placeClass(class, used)
	}
}

// placeClass places members of equal content, the oldest first.
func (f *family) placeClass(class []int, used [][][2]int) {
	type place struct{ holder, at int }
	var places []place
	holders := slices.Clone(f.holders[class[0]])
	slices.SortFunc(holders, func(a, b int) int { return cmp.Or(cmp.Compare(len(f.seq[a]), len(f.seq[b])), cmp.Compare(a, b)) })
	length := len(f.seq[class[0]])
	for _, c := range holders {
		for _, at := range f.holds[c][class[0]] {
			if at < 0 || f.use(c, at, length, used) {
				places = append(places, place{c, at})
			}
		}
	}
	for i, x := range class {
		switch {
		case i >= len(places):
			f.kind[x], f.live[x] = Live, true
			if len(f.holders[x]) > 0 || len(class) > 1 {
				f.flag(Repeat, length, f.members[x])
			}
		case length == 0 || len(class) == len(places) && !f.afterHolder(class, places[i].holder):
			f.kind[x], f.by[x], f.proof[x] = Superseded, []int{places[i].holder}, ByDocuments
		default:
			f.kind[x], f.by[x], f.proof[x] = Likely, []int{places[i].holder}, ByDocuments
			if f.flag(Weak, length, f.members[x], f.members[places[i].holder]).Accepted {
				f.kind[x], f.live[x] = Live, true
			}
		}
	}
}

// afterHolder says whether one of equal members was made after what holds them, as far as their clocks
// tell: then it may be one more that was never merged.
func (f *family) afterHolder(class []int, holder int) bool {
	c := f.object(holder)
	return slices.ContainsFunc(class, func(x int) bool {
		o := f.object(x)
		return o.Made.Set && c.Made.Set && o.Made.Value > c.Made.Value
	})
}

// use takes a range of a holder, and of what holds that, unless it is taken.
func (f *family) use(c, at, length int, used [][][2]int) bool {
	for _, r := range used[c] {
		if at < r[1] && r[0] < at+length {
			return false
		}
	}
	used[c] = append(used[c], [2]int{at, at + length})
	for _, d := range f.holders[c] {
		if outer := f.holds[d][c][0]; outer >= 0 {
			used[d] = append(used[d], [2]int{outer + at, outer + at + length})
		}
	}
	return true
}

// keep makes sure that no document is lost but what a rewrite dropped: a member that has one which no
// live member has becomes live.
func (f *family) keep() {
	present := make([]bool, len(f.owners))
	cover := func(x int) {
		for _, doc := range f.seq[x] {
			present[doc] = true
		}
	}
	for x := range f.members {
		if f.live[x] {
			cover(x)
		}
	}
	for x := range f.members {
		if f.closed[x] || f.live[x] {
			continue
		}
		for _, doc := range f.seq[x] {
			if present[doc] || f.dropped(x, doc) {
				continue
			}
			newest := slices.MinFunc(f.owners[doc], f.younger)
			f.kind[newest], f.live[newest], f.by[newest], f.proof[newest] = Live, true, nil, NoProof
			lost := 0
			for _, doc := range f.seq[newest] {
				if !present[doc] {
					lost++
				}
			}
			cover(newest)
			f.flag(Kept, lost, f.members[newest])
		}
	}
	for x := range f.members {
		if f.kind[x] == Orphan {
			f.by[x] = nil
			f.judgeDead(x) // a chain may lead to what was kept
		}
	}
}

// dropped says whether a rewrite on the chain that starts at x dropped a document, or x was replaced with
// it.
func (f *family) dropped(x, doc int) bool {
	seen := map[int]bool{}
	var walk func(y int) bool
	walk = func(y int) bool {
		if seen[y] {
			return false
		}
		seen[y] = true
		if f.closed[y] {
			return true
		}
		for _, r := range f.rewrites[y] {
			if !slices.Contains(f.seq[r], doc) && (f.live[r] || f.closed[r] || f.leadsOn(r)) || walk(r) {
				return true
			}
		}
		return slices.ContainsFunc(f.holders[y], walk)
	}
	return walk(x)
}

func (f *family) leadsOn(x int) bool {
	_, _, found := f.chain(x)
	return found
}

// write hands out the verdicts and the flags about them.
func (f *family) write() {
	present := make([]bool, len(f.owners))
	for x := range f.members {
		for _, doc := range f.seq[x] {
			present[doc] = present[doc] || f.live[x]
		}
	}
	for x, member := range f.members {
		by := make([]int, len(f.by[x]))
		for i, y := range f.by[x] {
			by[i] = f.members[y]
		}
		f.verdicts[member] = Verdict{ID: f.object(x).ID, Kind: f.kind[x], By: f.ids(by), Proof: f.proof[x]}
		if f.closed[x] {
			continue
		}
		switch f.kind[x] {
		case Live:
			f.flagLive(x)
			if by := f.unchecked[member]; len(by) > 0 {
				f.leaveUnread(member, by)
			}
		case Superseded:
			f.flagSuperseded(x, present)
		}
	}
}

func (f *family) flagSuperseded(x int, present []bool) {
	member := f.members[x]
	lost := map[int]bool{}
	for _, doc := range f.seq[x] {
		if !present[doc] {
			lost[doc] = true
		}
	}
	if r := f.by[x][0]; len(lost) > 0 && f.proof[x] == ByRewrite && !f.object(x).Entry {
		if !f.flag(Deleted, len(lost), member, f.members[r]).Accepted {
			f.verdicts[member].Kind = Likely
		}
		return
	}
	c := f.by[x][0]
	if f.proof[x] == ByDocuments && f.object(x).Opstamp > f.object(c).Opstamp && !f.certainlyAfter(f.members[c], member) {
		if !f.flag(Order, len(f.seq[x]), member, f.members[c]).Accepted {
			f.verdicts[member].Kind = Likely
		}
		return
	}
	f.flagOldCover(member, f.members[c])
}

func (f *family) flagLive(x int) {
	var with []int
	seen, shared, repeats := map[int]bool{}, map[int]bool{}, false
	for _, doc := range f.seq[x] {
		for _, y := range f.owners[doc] {
			if y == x || !f.live[y] {
				continue
			}
			if f.repeated[doc] {
				repeats = true
				continue
			}
			shared[doc] = true
			if !seen[y] {
				seen[y] = true
				with = append(with, f.members[y])
			}
		}
	}
	slices.Sort(with)
	if len(with) > 0 {
		f.flag(Overlap, len(shared), append([]int{f.members[x]}, with...)...)
	}
	if repeats && !f.flagged(Repeat, x) {
		f.flag(Repeat, len(f.seq[x]), f.members[x])
	}
	for r, sources := range f.sources {
		for _, p := range sources {
			if p != x && r != x && len(f.seq[x]) > 0 && f.allIn(x, p) && !f.shares(x, r) {
				f.flag(DeletedOrLive, len(f.seq[x]), f.members[x], f.members[p], f.members[r])
			}
		}
	}
}

func (f *family) flagged(kind FlagKind, x int) bool {
	return slices.ContainsFunc(f.flags, func(flag Flag) bool { return flag.Kind == kind && flag.Splits[0] == f.object(x).ID })
}

// allIn says whether p has all documents of x.
func (f *family) allIn(x, p int) bool {
	has := map[int]bool{}
	for _, doc := range f.seq[p] {
		has[doc] = true
	}
	return !slices.ContainsFunc(f.seq[x], func(doc int) bool { return !has[doc] })
}
