package lineage

import "holdfast/metastore"

// Decide runs the procedure that the package comment describes. It reads its arguments, keeps no
// reference to them but their strings, and returns the same plan for any order of objects and rows.
//
// Errors: options without an index id or out of range, an object or row without an id, an id given
// twice, a row of unknown state, more than 2^29 objects, rows or parents.
func Decide(objects []Object, rows []Row, options Options) (*Plan, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	scope := chooseScope(objects, options)
	g, err := newGraph(objects, rows, scope)
	if err != nil {
		return nil, err
	}
	d := newDecider(g, options)
	d.validateEdges()
	d.findEverPublished()
	d.discardLosers()
	d.supersedeByPublished()
	d.decideFrontier()
	d.takeVerdicts()
	d.findLive()
	d.findHiddenLinks()
	d.findPossibleLoss()
	plan := &Plan{IndexUID: scope.uid, ReferenceTime: d.clock.reference}
	plan.Decisions = d.decisions()
	plan.Rows = d.rowDecisions(plan.Decisions)
	plan.Findings = d.findings(plan)
	return plan, nil
}

// decider holds what the steps have found so far. Slices are indexed by node.
type decider struct {
	*graph
	options Options
	clock   clock

	family   disjointSets // nodes connected by lists
	bad      map[int32]contradiction
	badAt    map[node]contradiction
	proof    []proof
	orphanOf []orphanhood
	replaced []replacement
	// accepted members of the frontier: not proven published, taken for it.
	accepted []bool
	// excluded holds, for a member of a contested group, the members it excludes or is excluded by.
	excluded map[node][]node

	verdictBy map[node][]node // what the verdicts of content rest on
	contains  map[node][]node // what an object holds by its content

	live     []bool
	linkedTo []node  // a live split that may contain this one through a split that is gone
	flags    []Flags // of objects
	lost     map[node][]node
	carrier  []node // the live split that a known ancestor's documents are in
}

// proof says why a split is known to have been published at some time.
type proof uint8

const (
	proofNone proof = iota
	proofAge
	proofList
	proofRow
)

// orphanhood says why a split can never have been published or must not be. The zero value: it is no
// orphan.
type orphanhood struct {
	reason Reason
	by     node
}

// replacement is the child that replaced a split.
type replacement struct {
	by       node // none if nothing did
	accepted bool // the child is not proven
	content  bool // no list says so, but the documents
}

func newDecider(g *graph, options Options) *decider {
	n, all := len(g.order), len(g.ids)
	d := &decider{
		graph: g, options: options, clock: newClock(g.objects, options),
		family: newDisjointSets(all), bad: map[int32]contradiction{}, badAt: map[node]contradiction{},
		proof: make([]proof, all), orphanOf: make([]orphanhood, n), replaced: make([]replacement, all),
		accepted: make([]bool, n), excluded: map[node][]node{}, verdictBy: map[node][]node{}, contains: map[node][]node{}, live: make([]bool, n),
		linkedTo: make([]node, n), flags: make([]Flags, n), lost: map[node][]node{}, carrier: make([]node, all),
	}
	for x := range d.replaced {
		d.replaced[x].by, d.carrier[x] = none, none
	}
	for x := range n {
		d.linkedTo[x] = none
	}
	return d
}

func (d *decider) everPublished(x node) bool { return d.proof[x] != proofNone }
func (d *decider) orphan(x node) bool        { return d.orphanOf[x].reason != 0 }
func (d *decider) superseded(x node) bool    { return d.replaced[x].by != none }

// state is the state of a node's row, zero if it has none.
func (d *decider) state(x node) metastore.SplitState {
	if row := d.row(x); row != nil {
		return row.State
	}
	return 0
}
