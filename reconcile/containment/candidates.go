package containment

import (
	"cmp"
	"crypto/sha256"
	"math"
	"slices"
)

// candidates finds the objects that may have to do with another one. Whatever it finds, all that the exact
// conditions of exclude.go allow is among it: it only spares the look at each pair.
type candidates interface {
	// held visits what c may hold.
	held(c int, visit func(p int))
	// sources visits what r may be a rewrite of.
	sources(r int, visit func(p int))
	// joinSiblings joins x with what it may share documents with.
	joinSiblings(x int, g groups)
}

// The coordinates of an object.
const (
	byStart = iota
	byEnd
	byMade
	byDocs
	byOpstamp
	dimensions
)

// region is a box of coordinates, both ends included.
type region struct{ from, to [dimensions]int64 }

func everywhere() region {
	var r region
	for i := range dimensions {
		r.from[i], r.to[i] = math.MinInt64, math.MaxInt64
	}
	return r
}

// shelf is what objects must have in common, or have alike, to be looked for together.
type shelf struct {
	schema              [sha256.Size]byte
	partition           uint64
	partitioned, ranged bool // whether the partition and the times are known
	entry, merged       bool
}

// shelves holds a tree of objects for each shelf.
type shelves struct {
	d        *decider
	trees    map[shelf]*tree
	ofSchema map[[sha256.Size]byte][]shelf
}

func newShelves(d *decider) candidates {
	s := &shelves{d: d, trees: map[shelf]*tree{}, ofSchema: map[[sha256.Size]byte][]shelf{}}
	for x := range d.objects {
		key := shelfOf(&d.objects[x])
		if s.trees[key] == nil {
			s.trees[key] = &tree{}
			s.ofSchema[key.schema] = append(s.ofSchema[key.schema], key)
		}
		s.trees[key].add(x, &d.objects[x])
	}
	for _, t := range s.trees {
		t.divide(0, len(t.points), 0)
	}
	return s
}

func shelfOf(o *Object) shelf {
	s := shelf{schema: o.Schema, partitioned: o.Partition.Set, ranged: o.TimeRange.Set, entry: o.Entry, merged: o.merged()}
	if s.partitioned {
		s.partition = o.Partition.Value
	}
	return s
}

// near calls do for the trees of objects whose schema and partition may be those of o.
func (s *shelves) near(o *Object, do func(key shelf, t *tree)) {
	if !o.Partition.Set {
		for _, key := range s.ofSchema[o.Schema] {
			do(key, s.trees[key])
		}
		return
	}
	for _, key := range []shelf{{partition: o.Partition.Value, partitioned: true}, {}} {
		key.schema = o.Schema
		for bits := range 8 {
			key.ranged, key.entry, key.merged = bits&1 != 0, bits&2 != 0, bits&4 != 0
			if t := s.trees[key]; t != nil {
				do(key, t)
			}
		}
	}
}

// madeBefore limits a region to what may have been made before o.
func (s *shelves) madeBefore(o *Object, r *region) {
	if o.Made.Set {
		r.to[byMade] = o.Made.Value + s.d.clock.skew
	}
}

func (s *shelves) held(c int, visit func(p int)) {
	o := &s.d.objects[c]
	s.near(o, func(key shelf, t *tree) {
		if o.Entry && key.entry {
			return
		}
		r := everywhere()
		s.madeBefore(o, &r)
		r.to[byDocs] = clamp(o.NumDocs)
		if o.TimeRange.Set && key.ranged {
			r.from[byStart], r.to[byEnd] = o.TimeRange.Value.Start, o.TimeRange.Value.End
		}
		t.visit(&r, visit)
	})
}

func (s *shelves) sources(x int, visit func(p int)) {
	o := &s.d.objects[x]
	s.near(o, func(key shelf, t *tree) {
		if o.Entry && key.entry {
			return
		}
		r := everywhere()
		s.madeBefore(o, &r)
		r.from[byDocs], r.to[byOpstamp] = clamp(o.NumDocs), clamp(o.Opstamp)
		if o.TimeRange.Set && key.ranged {
			r.to[byStart], r.from[byEnd] = o.TimeRange.Value.Start, o.TimeRange.Value.End
		}
		t.visit(&r, visit)
	})
}

func (s *shelves) joinSiblings(x int, g groups) {
	o := &s.d.objects[x]
	s.near(o, func(key shelf, t *tree) {
		if o.Entry && key.entry || s.d.options.NoRewrites && !key.merged {
			return
		}
		r := everywhere()
		if o.TimeRange.Set && key.ranged {
			r.to[byStart], r.from[byEnd] = o.TimeRange.Value.End, o.TimeRange.Value.Start
		}
		t.join(&r, x, g)
	})
}

// tree is a k-d tree, stored as its points: the middle of a range of them divides it by one coordinate.
type tree struct {
	points []point
	nodes  []treeNode // of ranges of points, in the order of divide
}

type point struct {
	x  int
	at [dimensions]int64
}

type treeNode struct {
	region
	after  int  // number of the first node behind those of this range
	united bool // all points are in one group
}

// fewPoints is the number of points below which a range is not divided.
const fewPoints = 16

func clamp(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

func (t *tree) add(x int, o *Object) {
	made := int64(math.MinInt64) // may have been made before anything
	if o.Made.Set {
		made = o.Made.Value
	}
	t.points = append(t.points, point{x, [dimensions]int64{
		byStart: o.TimeRange.Value.Start, byEnd: o.TimeRange.Value.End, byMade: made, byDocs: clamp(o.NumDocs), byOpstamp: clamp(o.Opstamp),
	}})
}

func (t *tree) divide(from, to, depth int) {
	n := treeNode{region: region{t.points[from].at, t.points[from].at}}
	for _, p := range t.points[from:to] {
		for i, v := range p.at {
			n.from[i], n.to[i] = min(n.from[i], v), max(n.to[i], v)
		}
	}
	number := len(t.nodes)
	t.nodes = append(t.nodes, n)
	if to-from > fewPoints {
		dimension := depth % dimensions
		slices.SortFunc(t.points[from:to], func(a, b point) int {
			return cmp.Or(cmp.Compare(a.at[dimension], b.at[dimension]), a.x-b.x)
		})
		middle := (from + to) / 2
		t.divide(from, middle, depth+1)
		t.divide(middle, to, depth+1)
	}
	t.nodes[number].after = len(t.nodes)
}

// search calls found for ranges of points, each of which is in the region as a whole, or small.
func (t *tree) search(r *region, found func(n *treeNode, inside bool, points []point)) {
	var walk func(number, from, to int)
	walk = func(number, from, to int) {
		n := &t.nodes[number]
		inside := true
		for i := range dimensions {
			if n.from[i] > r.to[i] || n.to[i] < r.from[i] {
				return
			}
			inside = inside && n.from[i] >= r.from[i] && n.to[i] <= r.to[i]
		}
		if inside || to-from <= fewPoints {
			found(n, inside, t.points[from:to])
			return
		}
		middle := (from + to) / 2
		walk(number+1, from, middle)
		walk(t.nodes[number+1].after, middle, to)
	}
	walk(0, 0, len(t.points))
}

func (p *point) in(r *region) bool {
	for i, v := range p.at {
		if v < r.from[i] || v > r.to[i] {
			return false
		}
	}
	return true
}

func (t *tree) visit(r *region, visit func(x int)) {
	t.search(r, func(_ *treeNode, inside bool, points []point) {
		for i := range points {
			if inside || points[i].in(r) {
				visit(points[i].x)
			}
		}
	})
}

// join joins x with all points of a region. Ranges that were joined once are joined as one again.
func (t *tree) join(r *region, x int, g groups) {
	t.search(r, func(n *treeNode, inside bool, points []point) {
		switch {
		case inside && n.united:
			g.join(x, points[0].x)
		case inside:
			for i := range points {
				g.join(x, points[i].x)
			}
			n.united = true
		default:
			for i := range points {
				if points[i].in(r) {
					g.join(x, points[i].x)
				}
			}
		}
	})
}
