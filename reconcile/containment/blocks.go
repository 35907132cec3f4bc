package containment

import (
	"cmp"
	"slices"

	"holdfast/reconcile/splitfile/segment"
)

// placement is a place in a container where the blocks look like those of p.
type placement struct {
	p     int
	block int // first block in the container
}

// cover is what the blocks of a container say.
type cover struct {
	// placements are disjoint and sorted by block.
	placements []placement
	others     []placement // that overlap one of them
	// compare are objects whose documents have to be compared, since their blocks leave it open.
	compare map[int]bool
	// refuted is set if the blocks only looked alike: then they say nothing about any object.
	refuted bool
}

// indexGeometry finds objects by their first six blocks.
func (d *decider) indexGeometry() map[segmentWindow][]int {
	windows := map[segmentWindow][]int{}
	for p := range d.objects {
		if blocks := d.objects[p].Blocks; len(blocks) >= stackFrom {
			w := segmentWindow(blocks[:stackFrom])
			windows[w] = append(windows[w], p)
		}
	}
	return windows
}

// geometryOf is indexGeometry for what c may hold.
func (d *decider) geometryOf(c int) map[segmentWindow][]int {
	windows := map[segmentWindow][]int{}
	d.held(c, func(p int) {
		if blocks := d.objects[p].Blocks; len(blocks) >= stackFrom && d.mayHold(c, p) {
			w := segmentWindow(blocks[:stackFrom])
			windows[w] = append(windows[w], p)
		}
	})
	for _, alike := range windows {
		slices.Sort(alike)
	}
	return windows
}

// mostPlacements bounds the places that are looked at in one container: equal blocks in a row would
// make too many. Those beyond it are left to the documents.
const mostPlacements = 100_000

// fewAlike is the number of objects that begin alike up to which each is looked at. More of them, as
// documents of one length give, are looked at only if the container may hold them.
const fewAlike = 16

// coverByBlocks chooses disjoint places at which the blocks of c look like those of others: the longest
// ones first.
func (d *decider) coverByBlocks(c int, windows map[segmentWindow][]int) cover {
	blocks := d.objects[c].Blocks
	var found []placement
	var mayHold map[segmentWindow][]int
	result := cover{compare: map[int]bool{}}
	for j := 0; j+stackFrom <= len(blocks); j++ {
		window := segmentWindow(blocks[j : j+stackFrom])
		alike := windows[window]
		if len(alike) > fewAlike {
			if mayHold == nil {
				mayHold = d.geometryOf(c)
			}
			alike = mayHold[window]
		}
		for _, p := range alike {
			own := d.objects[p].Blocks
			if len(own) > len(blocks)-j || !d.mayHold(c, p) || d.objects[p].Compression != d.objects[c].Compression ||
				!slices.Equal(own, blocks[j:j+len(own)]) {
				continue
			}
			if len(found) == mostPlacements {
				result.compare[p] = true
				continue
			}
			found = append(found, placement{p, j})
		}
	}
	slices.SortFunc(found, func(a, b placement) int {
		return cmp.Or(cmp.Compare(len(d.objects[b.p].Blocks), len(d.objects[a.p].Blocks)), cmp.Compare(a.block, b.block), cmp.Compare(a.p, b.p))
	})
	taken := make([]bool, len(blocks))
	for _, place := range found {
		span := taken[place.block : place.block+len(d.objects[place.p].Blocks)]
		if slices.Contains(span, true) {
			result.others = append(result.others, place)
			continue
		}
		for j := range span {
			span[j] = true
		}
		result.placements = append(result.placements, place)
	}
	slices.SortFunc(result.placements, func(a, b placement) int { return cmp.Compare(a.block, b.block) })
	return result
}

// proveCover compares checksums: that of all blocks of c, which its file tells, with that of the blocks
// of the covering objects, which theirs tell, and of the blocks between them, which must be read. If they
// are equal all placements are proven at once, else none.
func (d *decider) proveCover(c int, found cover, readable bool) cover {
	var missing []int
	gaps := d.gaps(c, found.placements)
	for _, gap := range gaps {
		missing = append(missing, d.stores[c].missing(gap[0], gap[1])...)
	}
	if len(missing) > 0 {
		if !readable || !d.need(c, missing) {
			if readable {
				for _, place := range found.placements {
					d.unchecked[place.p] = append(d.unchecked[place.p], c)
				}
			}
			return cover{compare: map[int]bool{}}
		}
		return found // taken for proven until it is read: nothing is decided before
	}
	checksum, next := uint32(0), 0
	join := func(to int) {
		for ; next < to; next++ {
			checksum = segment.JoinChecksums(checksum, d.stores[c].blocks[next].Checksum, int64(d.objects[c].Blocks[next].Size))
		}
	}
	for _, place := range found.placements {
		join(place.block)
		p := &d.objects[place.p]
		var size int64
		for _, b := range p.Blocks {
			size += int64(b.Size)
		}
		checksum, next = segment.JoinChecksums(checksum, p.AreaChecksum, size), place.block+len(p.Blocks)
	}
	join(len(d.objects[c].Blocks))
	if checksum == d.objects[c].AreaChecksum {
		return found
	}
	return found.refute()
}

// refute leaves to the documents what the blocks look like.
func (f cover) refute() cover {
	refuted := cover{compare: f.compare, refuted: true}
	for _, place := range append(f.placements, f.others...) {
		refuted.compare[place.p] = true
	}
	return refuted
}

// judgeOther judges a placement that overlaps the cover: it is proven by what the covering object holds,
// or is equal to. Otherwise the documents decide.
func (d *decider) judgeOther(c int, place placement, cover *cover) {
	if d.holds(c, place.p) {
		return
	}
	own := &d.objects[place.p]
	for _, q := range cover.placements {
		other := &d.objects[q.p]
		if q.block == place.block && len(other.Blocks) == len(own.Blocks) && other.AreaChecksum == own.AreaChecksum {
			d.addRun(c, place.p, run{at: d.stores[c].firstDoc[place.block], proof: ByBlocks})
			return
		}
	}
	cover.compare[place.p] = true
}
