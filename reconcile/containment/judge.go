package containment

import (
	"cmp"
	"encoding/binary"
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
	classes := map[string][]int{}            // by content
	var contents []string
	for _, x := range rest {
		content := contentKey(f.seq[x])
		if classes[content] == nil {
			contents = append(contents, content)
		}
		classes[content] = append(classes[content], x)
	}
	for _, content := range contents {
		f.placeClass(classes[content], used)
	}
}

// contentKey is the same for equal sequences of documents only.
func contentKey(docs []int) string {
	key := make([]byte, 0, 4*len(docs))
	for _, doc := range docs {
		key = binary.AppendUvarint(key, uint64(doc))
	}
	return string(key)
}

// placeClass places members of equal content, the oldest first.
func (f *family) placeClass(class []int, used [][][2]int) {
	type place struct{ holder, at int }
	var places []place
	holders := slices.Clone(f.holders[class[0]])
	slices.SortFunc(holders, func(a, b int) int { return cmp.Or(cmp.Compare(len(f.seq[a]), len(f.seq[b])), cmp.Compare(a, b)) })
	length := len(f.seq[class[0]])
	for _, c := range holders {
		if f.kind[c] == Orphan {
			continue // other splits stand for it, with places of their own
		}
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
				f.repeats[x] = true
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

// span is a range of the documents of a member.
type span struct{ member, from, to int }

// use takes a range of a member, and what is the same copy of its documents in others, unless it is taken.
func (f *family) use(c, at, length int, used [][][2]int) bool {
	for _, r := range used[c] {
		if at < r[1] && r[0] < at+length {
			return false
		}
	}
	seen := map[int]bool{c: true}
	copies := []span{{c, at, at + length}}
	for len(copies) > 0 {
		s := copies[0]
		copies = copies[1:]
		used[s.member] = append(used[s.member], [2]int{s.from, s.to})
		for _, next := range f.sameCopies(s) {
			if !seen[next.member] {
				seen[next.member] = true
				copies = append(copies, next)
			}
		}
	}
	return true
}

// sameCopies finds a range of a member in those that hold it, those that it holds, its rewrites and its
// source.
func (f *family) sameCopies(s span) []span {
	var same []span
	add := func(member, from, to int) {
		if from < to {
			same = append(same, span{member, from, to})
		}
	}
	x := s.member
	for _, d := range f.holders[x] {
		if at := f.holds[d][x][0]; at >= 0 {
			add(d, at+s.from, at+s.to)
		}
	}
	for _, p := range sortedKeys(f.holds[x]) {
		if at := f.holds[x][p][0]; at >= 0 {
			add(p, max(s.from-at, 0), min(s.to-at, len(f.seq[p])))
		}
	}
	for _, r := range f.rewrites[x] {
		kept := f.keptPlaces(r)
		from, _ := slices.BinarySearch(kept, s.from)
		to, _ := slices.BinarySearch(kept, s.to)
		add(r, from, to)
	}
	if p := f.source[x]; p >= 0 {
		kept := f.keptPlaces(x)
		add(p, kept[s.from], kept[s.to-1]+1)
	}
	return same
}

// keptPlaces returns where in its source the documents of a rewrite are.
func (f *family) keptPlaces(r int) []int {
	kept := make([]int, 0, len(f.seq[r]))
	for at, doc := range f.seq[f.source[r]] {
		if len(kept) < len(f.seq[r]) && f.seq[r][len(kept)] == doc {
			kept = append(kept, at)
		}
	}
	return kept
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
	present := make([]int, len(f.owners)) // places in live members
	for x := range f.members {
		for _, doc := range f.seq[x] {
			if f.live[x] {
				present[doc]++
			}
		}
	}
	for x, member := range f.members {
		f.verdicts[member] = Verdict{ID: f.object(x).ID, Kind: f.kind[x], By: f.ids(f.membersOf(f.by[x])), Proof: f.proof[x]}
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
		case Orphan:
			f.flagOrphan(x, present)
		case Likely:
			f.flagMayBeBack(x)
		}
	}
	f.flagDeletedOrLive()
}

// flagUndercount: where documents repeat, live splits may have all of x, and some at fewer places.
func (f *family) flagUndercount(x int, present []int) bool {
	places, fewer := map[int]int{}, 0
	for _, doc := range f.seq[x] {
		if places[doc]++; places[doc] == present[doc]+1 && present[doc] > 0 {
			fewer++
		}
	}
	if fewer == 0 {
		return false
	}
	kind := Likely
	if f.flag(Undercount, fewer, append([]int{f.members[x]}, f.membersOf(f.by[x])...)...).Accepted {
		kind = Live
	}
	f.verdicts[f.members[x]].Kind = kind
	return true
}

// flagOrphan: no live split holds x as a whole. What x lacks of those that have its documents a delete task
// may have removed.
func (f *family) flagOrphan(x int, present []int) {
	if f.flagUndercount(x, present) {
		return
	}
	own, back := f.set(x), map[int]bool{}
	for _, y := range f.by[x] {
		if f.object(y).Opstamp >= f.object(x).Opstamp {
			continue
		}
		for _, doc := range f.seq[y] {
			if !own[doc] {
				back[doc] = true
			}
		}
	}
	f.flag(Piecemeal, len(back), append([]int{f.members[x]}, f.membersOf(f.by[x])...)...)
}

func (f *family) flagSuperseded(x int, present []int) {
	member := f.members[x]
	lost := map[int]bool{}
	for _, doc := range f.seq[x] {
		if present[doc] == 0 {
			lost[doc] = true
		}
	}
	c := f.by[x][0]
	switch {
	case len(lost) > 0 && f.proof[x] == ByRewrite && !f.object(x).Entry:
		if !f.flag(Deleted, len(lost), member, f.members[c]).Accepted {
			f.verdicts[member].Kind = Likely
		}
	case f.flagUndercount(x, present):
	case f.proof[x] == ByDocuments && f.object(x).Opstamp > f.object(c).Opstamp && !f.certainlyAfter(f.members[c], member):
		if !f.flag(Order, len(f.seq[x]), member, f.members[c]).Accepted {
			f.verdicts[member].Kind = Likely
		}
	default:
		f.flagOldCover(member, f.members[c])
		f.flagMayBeBack(x)
	}
}

// flagMayBeBack: the opstamp of a merge is that of one of its parents, so it does not tell whether x is one
// of them or a rewrite of one.
func (f *family) flagMayBeBack(x int) {
	if f.object(x).Opstamp == 0 || f.options.NoRewrites {
		return
	}
	for _, c := range f.holders[x] {
		if f.live[c] && f.holds[c][x][0] >= 0 && !f.certainlyAfter(f.members[c], f.members[x]) {
			f.flag(MayBeBack, 0, f.members[x], f.members[c])
		}
	}
}

func (f *family) membersOf(all []int) []int {
	of := make([]int, len(all))
	for i, x := range all {
		of[i] = f.members[x]
	}
	return of
}

// set returns the documents of a member.
func (f *family) set(x int) map[int]bool {
	docs := make(map[int]bool, len(f.seq[x]))
	for _, doc := range f.seq[x] {
		docs[doc] = true
	}
	return docs
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
	if repeats && !f.repeats[x] {
		f.flag(Repeat, len(f.seq[x]), f.members[x])
	}
}

// flagDeletedOrLive looks for live members with documents that a rewrite may have dropped.
func (f *family) flagDeletedOrLive() {
	for r, sources := range f.sources {
		if len(sources) == 0 {
			continue
		}
		kept, sharers := f.set(r), f.sharers(r)
		for _, p := range sources {
			dropped := map[int]int{} // documents by live member
			for doc := range f.set(p) {
				if kept[doc] {
					continue
				}
				for _, x := range f.owners[doc] {
					if f.live[x] && x != p && !sharers[x] {
						dropped[x]++
					}
				}
			}
			for x, n := range dropped {
				f.flag(DeletedOrLive, n, f.members[x], f.members[p], f.members[r])
			}
		}
	}
}
