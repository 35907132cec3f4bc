package lineage

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"holdfast/metastore"
)

// node is an id: an object (the first ones, sorted by id), or an id that only a list or a row names.
type node = int32

// none is no node.
const none node = -1

// place says what there is of a node in the bucket.
type place uint8

const (
	placeAbsent     place = iota // no object
	placeReadable                // an object with an entry, of the index: the procedure's set O
	placeLegacy                  // an object without an entry
	placeUnreadable              // an object of which nothing is known
	placeForeign                 // an object of another index UID
)

// graph is the lineage in compressed rows: the parents of node x are parents[parentStart[x]:
// parentStart[x+1]]. Only objects have parents, and only readable ones are children.
type graph struct {
	objects []Object
	order   []int32 // node of an object -> its place in objects
	ids     []string
	place   []place
	rows    []Row
	rowOf   []int32 // node -> its place in rows, or -1

	parentStart, parents []int32
	childStart, children []int32
	selfParent           []node // objects that list themselves
}

func newGraph(objects []Object, rows []Row, scope scope) (*graph, error) {
	if len(objects) > math.MaxInt32/4 || len(rows) > math.MaxInt32/4 {
		return nil, fmt.Errorf("decide lineage: %d objects and %d rows are too many for one index", len(objects), len(rows))
	}
	g := &graph{objects: objects, rows: rows, order: make([]int32, len(objects))}
	for i := range g.order {
		g.order[i] = int32(i)
	}
	slices.SortFunc(g.order, func(a, b int32) int { return cmp.Compare(objects[a].ID, objects[b].ID) })
	g.ids = make([]string, len(objects), len(objects)+len(objects)/4)
	g.place = make([]place, len(objects), cap(g.ids))
	nodes := make(map[string]node, len(objects)+len(objects)/4)
	edges := 0
	for x, at := range g.order {
		object := &objects[at]
		if object.ID == "" {
			return nil, fmt.Errorf("decide lineage: object %d has an empty split id", at)
		}
		if x > 0 && g.ids[x-1] == object.ID {
			return nil, fmt.Errorf("decide lineage: split id %.100q is given by two objects", object.ID)
		}
		g.ids[x], g.place[x] = object.ID, scope.place(object)
		nodes[object.ID] = node(x)
		if g.hasList(node(x)) {
			edges += len(object.Parents)
		}
	}
	if edges > math.MaxInt32/2 {
		return nil, fmt.Errorf("decide lineage: %d parents are too many for one index", edges)
	}
	intern := func(id string) node {
		x, known := nodes[id]
		if !known {
			x = node(len(g.ids))
			g.ids, g.place = append(g.ids, strings.Clone(id)), append(g.place, placeAbsent)
			nodes[g.ids[x]] = x
		}
		return x
	}
	g.linkParents(edges, intern)
	if err := g.linkRows(intern); err != nil {
		return nil, err
	}
	g.linkChildren()
	return g, nil
}

// hasList says whether the parents of an object count.
func (g *graph) hasList(x node) bool { return g.place[x] == placeReadable }

func (g *graph) linkParents(edges int, intern func(string) node) {
	n := len(g.order)
	g.parentStart, g.parents = make([]int32, n+1), make([]int32, 0, edges)
	lastChild := make([]int32, n) // node -> 1 + the last object that listed it, to drop repetitions
	for x := range n {
		if g.hasList(node(x)) {
			for _, id := range g.objects[g.order[x]].Parents {
				p := intern(id)
				for int(p) >= len(lastChild) {
					lastChild = append(lastChild, 0)
				}
				if lastChild[p] == int32(x)+1 {
					continue
				}
				lastChild[p] = int32(x) + 1
				if p == node(x) {
					g.selfParent = append(g.selfParent, p)
					continue
				}
				g.parents = append(g.parents, p)
			}
		}
		g.parentStart[x+1] = int32(len(g.parents))
	}
}

func (g *graph) linkRows(intern func(string) node) error {
	byID := make([]int32, len(g.rows))
	for i := range byID {
		byID[i] = int32(i)
	}
	// Sorted, so that the numbers of nodes, and whatever follows from them, do not depend on the order of arrival.
	slices.SortFunc(byID, func(a, b int32) int { return cmp.Compare(g.rows[a].ID, g.rows[b].ID) })
	nodes := make([]node, len(byID))
	for i, at := range byID {
		row := &g.rows[at]
		if row.ID == "" {
			return fmt.Errorf("decide lineage: row %d has an empty split id", at)
		}
		if row.State < metastore.Staged || row.State > metastore.MarkedForDeletion {
			return fmt.Errorf("decide lineage: row %.100q has the unknown state %d", row.ID, row.State)
		}
		if i > 0 && g.rows[byID[i-1]].ID == row.ID {
			return fmt.Errorf("decide lineage: split id %.100q is given by two rows", row.ID)
		}
		nodes[i] = intern(row.ID)
	}
	g.rowOf = make([]int32, len(g.ids))
	for x := range g.rowOf {
		g.rowOf[x] = -1
	}
	for i, at := range byID {
		g.rowOf[nodes[i]] = at
	}
	return nil
}

func (g *graph) linkChildren() {
	g.childStart = make([]int32, len(g.ids)+1)
	for _, p := range g.parents {
		g.childStart[p+1]++
	}
	for x := range g.ids {
		g.childStart[x+1] += g.childStart[x]
	}
	g.children = make([]int32, len(g.parents))
	next := slices.Clone(g.childStart[:len(g.ids)])
	for x := range g.order {
		for _, p := range g.parentsOf(node(x)) {
			g.children[next[p]] = int32(x)
			next[p]++
		}
	}
}

func (g *graph) parentsOf(x node) []node {
	if int(x) >= len(g.order) {
		return nil
	}
	return g.parents[g.parentStart[x]:g.parentStart[x+1]]
}

// childrenOf returns the readable objects that list x, sorted.
func (g *graph) childrenOf(x node) []node { return g.children[g.childStart[x]:g.childStart[x+1]] }

func (g *graph) readable(x node) bool { return g.place[x] == placeReadable }

// object is only for nodes with an object.
func (g *graph) object(x node) *Object { return &g.objects[g.order[x]] }

func (g *graph) row(x node) *Row {
	if at := g.rowOf[x]; at >= 0 {
		return &g.rows[at]
	}
	return nil
}
