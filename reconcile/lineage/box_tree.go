package lineage

import "math"

// point is a live split that may contain others.
type point struct {
	x          node
	ops        uint64 // effective
	create     int64
	start, end int64
}

// query asks for a point other than x with at least these ops and create, overlapping [start, end].
type query struct {
	x          node
	ops        uint64
	create     int64
	start, end int64
}

func (q *query) matches(p *point) bool {
	return p.x != q.x && p.ops >= q.ops && p.create >= q.create && p.start <= q.end && p.end >= q.start
}

// boxTree is a k-d tree: a million splits have to be compared with a hundred thousand without a
// million times a hundred thousand comparisons. It is stored as its points, sorted so that the middle
// of a range splits it by one coordinate, and one box for each range.
type boxTree struct {
	points []point
	boxes  []box // of ranges, in the order in which build meets them
}

// box bounds the points of a range: the least and greatest of each coordinate that a query needs.
type box struct {
	minOps, maxOps       uint64
	minCreate, maxCreate int64
	minStart, maxStart   int64
	minEnd, maxEnd       int64
	after                int // number of the first box behind those of this range
}

// leafSize is the number of points below which a range is not divided.
const leafSize = 16

func (t *boxTree) add(p point) { t.points = append(t.points, p) }

func (t *boxTree) build() { t.divide(0, len(t.points), 0) }

func (t *boxTree) divide(from, to, depth int) {
	b := box{math.MaxUint64, 0, math.MaxInt64, math.MinInt64, math.MaxInt64, math.MinInt64, math.MaxInt64, math.MinInt64, 0}
	for i := from; i < to; i++ {
		p := &t.points[i]
		b.minOps, b.maxOps = min(b.minOps, p.ops), max(b.maxOps, p.ops)
		b.minCreate, b.maxCreate = min(b.minCreate, p.create), max(b.maxCreate, p.create)
		b.minStart, b.maxStart = min(b.minStart, p.start), max(b.maxStart, p.start)
		b.minEnd, b.maxEnd = min(b.minEnd, p.end), max(b.maxEnd, p.end)
	}
	number := len(t.boxes)
	b.after = number + 1
	t.boxes = append(t.boxes, b)
	if to-from <= leafSize {
		return
	}
	middle := (from + to) / 2
	selectNth(t.points[from:to], middle-from, coordinates[depth%len(coordinates)])
	t.divide(from, middle, depth+1)
	t.divide(middle, to, depth+1)
	t.boxes[number].after = len(t.boxes)
}

// find returns the node of a matching point, or none. Which one depends on the points and the query only.
func (t *boxTree) find(q query) node {
	next := 0
	return t.search(&q, 0, len(t.points), &next)
}

// search walks the ranges in the order of divide; next is the number of the range's box.
func (t *boxTree) search(q *query, from, to int, next *int) node {
	b := &t.boxes[*next]
	*next++
	possible := b.maxOps >= q.ops && b.maxCreate >= q.create && b.minStart <= q.end && b.maxEnd >= q.start
	certain := b.minOps >= q.ops && b.minCreate >= q.create && b.maxStart <= q.end && b.minEnd >= q.start
	if possible && !certain && to-from > leafSize {
		middle := (from + to) / 2
		if found := t.search(q, from, middle, next); found != none {
			return found
		}
		return t.search(q, middle, to, next)
	}
	*next = b.after
	if possible {
		for i := from; i < to; i++ {
			if q.matches(&t.points[i]) {
				return t.points[i].x
			}
		}
	}
	return none
}

// coordinates order the points in one dimension each; equal ones by node, so that the tree does not
// depend on chance.
var coordinates = [...]func(a, b *point) bool{
	func(a, b *point) bool { return a.create < b.create || a.create == b.create && a.x < b.x },
	func(a, b *point) bool { return a.start < b.start || a.start == b.start && a.x < b.x },
	func(a, b *point) bool { return a.ops < b.ops || a.ops == b.ops && a.x < b.x },
	func(a, b *point) bool { return a.end < b.end || a.end == b.end && a.x < b.x },
}

// selectNth moves the points so that the nth is where sorting would put it, with none greater in front
// of it and none less behind it.
func selectNth(points []point, n int, less func(a, b *point) bool) {
	low, high := 0, len(points)-1
	for low < high {
		middle := (low + high) / 2
		if less(&points[middle], &points[low]) {
			points[middle], points[low] = points[low], points[middle]
		}
		if less(&points[high], &points[low]) {
			points[high], points[low] = points[low], points[high]
		}
		if less(&points[high], &points[middle]) {
			points[high], points[middle] = points[middle], points[high]
		}
		pivot := points[middle]
		i, j := low, high
		for i <= j {
			for less(&points[i], &pivot) {
				i++
			}
			for less(&pivot, &points[j]) {
				j--
			}
			if i <= j {
				points[i], points[j] = points[j], points[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			high = j
		case n >= i:
			low = i
		default:
			return
		}
	}
}
