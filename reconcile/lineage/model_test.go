package lineage

import (
	"fmt"
	"math/bits"

	"holdfast/metastore"
	"holdfast/reconcile/splitfile/segment/segmenttest"
)

// model is an index and its bucket in the hands of indexers, mergers, compactors, delete tasks,
// retention, people and the janitor. It knows the truth. Times are minutes.
type model struct {
	t         int64
	splits    []*modelSplit
	docs      int        // documents that exist so far, numbered; at most 64
	unread    [2]docs    // by partition: documents whose publication failed, to be read again
	docTime   [64]int64  // seconds
	deleted   docs       // documents that delete tasks have named
	opstamp   uint64     // of the last delete task
	legacy    bool       // files are written without recovery entries
	unhealthy bool       // deletions by the janitor fail now and then
	retired   bool       // some split was marked without a replacement
	blockSize int        // of the document stores, in bytes
	backup    []modelRow // nil until a backup is made
	trace     func(format string, args ...any)
}

// docs is a set of documents.
type docs uint64

type modelSplit struct {
	n             int
	object        Object
	parents       []*modelSplit
	docs          docs
	partition     int
	present       bool // the object is in the bucket
	state         metastore.SplitState
	updated       int64
	publishedOnce bool
	replacedBy    *modelSplit
	rowOpstamp    uint64
	content       *segmenttest.Split // what is in its file, nil until it is asked for
	// work in progress
	uploaded, aborted, over bool
}

type modelRow struct {
	split *modelSplit
	row   Row
}

// step is one event of a history. Arguments choose among what is possible; an event that is not
// possible does nothing.
type step struct {
	kind    stepKind
	a, b, c uint8
}

type stepKind uint8

const (
	stepIngest stepKind = iota
	stepMerge
	stepDuplicateMerge
	stepRewrite
	stepDelete
	stepProgress
	stepAbort
	stepMark
	stepAdvance
	stepBackup
	stepUpgrade
	stepKinds
)

const (
	stagedGrace = 24 * 60
	markedGrace = 32
	janitorTick = 10
)

func (m *model) play(s step) {
	switch s.kind {
	case stepIngest:
		m.ingest(int(s.a), int(s.b)%2, until(s.c))
	case stepMerge, stepDuplicateMerge:
		m.merge(s.a, s.b, until(s.c), s.kind == stepDuplicateMerge)
	case stepRewrite:
		m.rewrite(s.a, until(s.c))
	case stepDelete:
		m.deleteDocs(s.a, s.b)
	case stepProgress:
		if x := m.pick(s.a, func(x *modelSplit) bool { return !x.over }); x != nil {
			m.progress(x)
		}
	case stepAbort:
		if x := m.pick(s.a, func(x *modelSplit) bool { return !x.over && !x.aborted }); x != nil {
			m.abort(x)
		}
	case stepMark:
		if x := m.pick(s.a, func(x *modelSplit) bool {
			return x.state == metastore.Published || s.b%4 == 0 && x.state == metastore.Staged && x.object.Content != Legacy
		}); x != nil {
			m.trace("%4d  a person marks %s", m.t, x.object.ID)
			m.retire(x)
		}
	case stepAdvance:
		minutes := [...]int64{1, 5, 12, 25, 45, 50, 70, 180, 600, 1300, 1600, 3000}
		m.advance(minutes[int(s.a)%len(minutes)], s.b)
	case stepBackup:
		m.trace("%4d  backup", m.t)
		m.backup = m.rows()
	case stepUpgrade:
		if m.legacy {
			m.trace("%4d  upgrade: files have recovery entries from now on", m.t)
			m.legacy = false
		}
	}
}

// until says how far a new split gets at once: 0 it is staged, 1 uploaded, 2 published. stepProgress moves
// it on later.
func until(c uint8) int { return [...]int{2, 2, 2, 2, 2, 2, 1, 1, 0, 0}[c%10] }

func (m *model) pick(a uint8, possible func(*modelSplit) bool) *modelSplit {
	var found []*modelSplit
	for _, x := range m.splits {
		if possible(x) {
			found = append(found, x)
		}
	}
	if len(found) == 0 {
		return nil
	}
	// Late ones more often: most events concern what is new.
	at := int(a) % (2 * len(found))
	if at >= len(found) {
		at = len(found) - 1 - (at-len(found))/2
	}
	return found[at]
}

// clockOf is the clock of the node that makes a split, up to 20 minutes off.
func (m *model) clockOf(n int) int64 { return m.t*60 + int64(n*7919%41-20)*60 }

func (m *model) newSplit(d docs, partition int, parents ...*modelSplit) *modelSplit {
	n := len(m.splits)
	x := &modelSplit{n: n, docs: d, partition: partition, parents: parents, state: metastore.Staged, updated: m.t}
	x.object = Object{
		// Names in an order of their own.
		ID: fmt.Sprintf("%c%d", 'a'+n*11%26, n), IndexUID: testUID, SourceID: "source", PartitionID: uint64(partition),
		NumDocs: uint64(bits.OnesCount64(uint64(d))), CreateTimestamp: m.clockOf(n),
	}
	if m.legacy {
		x.object.Content = Legacy
	}
	for _, p := range parents {
		x.object.Parents = append(x.object.Parents, p.object.ID)
		x.object.NumMergeOps = max(x.object.NumMergeOps, p.object.NumMergeOps)
	}
	if len(parents) > 1 {
		x.object.NumMergeOps++
	}
	var r metastore.TimeRange
	first := true
	for i := range m.docs {
		if d&(1<<i) != 0 {
			if first {
				r = metastore.TimeRange{Start: m.docTime[i], End: m.docTime[i]}
			}
			r.Start, r.End, first = min(r.Start, m.docTime[i]), max(r.End, m.docTime[i]), false
		}
	}
	x.object.TimeRange = metastore.Optional[metastore.TimeRange]{Value: r, Set: !first}
	m.splits = append(m.splits, x)
	return x
}

func (m *model) ingest(a, partition, until int) {
	d := m.unread[partition]
	m.unread[partition] = 0
	if d == 0 {
		for range 1 + a%3 {
			if m.docs < 64 {
				m.docTime[m.docs] = m.t*60 + int64(a*13)
				d |= 1 << m.docs
				m.docs++
			}
		}
	}
	if d == 0 {
		return
	}
	x := m.newSplit(d, partition)
	x.object.DeleteOpstamp = m.opstamp
	m.trace("%4d  an indexer makes %s of documents %s", m.t, x.object.ID, d)
	m.start(x, until)
}

func (m *model) merge(a, b uint8, until int, duplicate bool) {
	busy := map[*modelSplit]bool{}
	if !duplicate {
		for _, x := range m.splits {
			if !x.over && !x.aborted {
				for _, p := range x.parents {
					busy[p] = true
				}
			}
		}
	}
	var parents []*modelSplit
	for i := range 2 + int(b)%2 {
		p := m.pick(a+uint8(i)*uint8(1+b%5), func(x *modelSplit) bool {
			for _, p := range parents {
				if x == p || x.partition != p.partition {
					return false
				}
			}
			return x.state == metastore.Published && !busy[x]
		})
		if p != nil {
			parents = append(parents, p)
		}
	}
	if len(parents) < 2 {
		return
	}
	var d docs
	opstamp := parents[0].rowOpstamp
	for _, p := range parents {
		d |= p.docs
		opstamp = min(opstamp, p.rowOpstamp)
	}
	x := m.newSplit(d, parents[0].partition, parents...)
	x.object.DeleteOpstamp = opstamp
	m.trace("%4d  a merge of %v makes %s (documents %s)", m.t, x.object.Parents, x.object.ID, d)
	m.start(x, until)
}

func (m *model) rewrite(a uint8, until int) {
	p := m.pick(a, func(x *modelSplit) bool {
		return x.state == metastore.Published && x.rowOpstamp < m.opstamp
	})
	if p == nil {
		return
	}
	switch rest := p.docs &^ m.deleted; rest {
	case p.docs:
		p.rowOpstamp = m.opstamp
	case 0:
		m.trace("%4d  the delete task marks %s, as none of its documents is left", m.t, p.object.ID)
		m.retire(p)
	default:
		x := m.newSplit(rest, p.partition, p)
		x.object.DeleteOpstamp = m.opstamp
		m.trace("%4d  the delete task rewrites %s as %s (documents %s)", m.t, p.object.ID, x.object.ID, rest)
		m.start(x, until)
	}
}

func (m *model) deleteDocs(a, b uint8) {
	x := m.pick(a, func(x *modelSplit) bool { return x.state == metastore.Published })
	if x == nil {
		return
	}
	d := x.docs & docs(0x5555555555555555<<(b%2))
	m.deleted |= d
	m.opstamp++
	m.trace("%4d  delete task %d names documents %s", m.t, m.opstamp, d)
}

func (m *model) start(x *modelSplit, until int) {
	x.rowOpstamp = x.object.DeleteOpstamp
	for range until {
		m.progress(x)
	}
}

// progress uploads a staged split, or publishes an uploaded one.
func (m *model) progress(x *modelSplit) {
	if !x.uploaded {
		x.uploaded, x.present = true, true
		x.object.LastModified = m.t*60 + 90
		m.trace("%4d  %s is uploaded", m.t, x.object.ID)
		return
	}
	x.over = true
	possible := x.state == metastore.Staged && !(x.aborted && len(x.parents) == 0)
	for _, p := range x.parents {
		possible = possible && p.state == metastore.Published
	}
	if !possible {
		m.trace("%4d  publishing %s fails", m.t, x.object.ID)
		m.abort(x)
		return
	}
	m.trace("%4d  %s is published", m.t, x.object.ID)
	x.state, x.updated, x.publishedOnce = metastore.Published, m.t, true
	for _, p := range x.parents {
		p.state, p.updated, p.replacedBy = metastore.MarkedForDeletion, m.t, x
	}
}

// abort gives a split up; its documents are read again if it has no parents. A merge may be given up by
// its planner only: its worker can still publish.
func (m *model) abort(x *modelSplit) {
	if !x.aborted && len(x.parents) == 0 {
		m.trace("%4d  %s is given up, its documents will be read again", m.t, x.object.ID)
		m.unread[x.partition] |= x.docs
	}
	x.aborted = true
}

func (m *model) retire(x *modelSplit) {
	if x.state == metastore.Published {
		m.retired = true
	}
	x.state, x.updated = metastore.MarkedForDeletion, m.t
}

func (m *model) advance(minutes int64, chance uint8) {
	end := m.t + minutes
	for {
		due := end + 1
		for _, x := range m.splits {
			switch x.state {
			case metastore.Staged:
				due = min(due, x.updated+stagedGrace)
			case metastore.MarkedForDeletion:
				due = min(due, x.updated+markedGrace)
			}
		}
		due = max((due+janitorTick-1)/janitorTick*janitorTick, m.t/janitorTick*janitorTick+janitorTick)
		if due > end {
			break
		}
		m.t = due
		m.collect(chance)
	}
	m.t = end
}

// collect is one run of the janitor.
func (m *model) collect(chance uint8) {
	for _, x := range m.splits {
		if x.state == metastore.Staged && x.updated <= m.t-stagedGrace {
			m.trace("%4d  the janitor marks %s, staged for too long", m.t, x.object.ID)
			x.state, x.updated = metastore.MarkedForDeletion, m.t
		}
	}
	for _, x := range m.splits {
		if x.state != metastore.MarkedForDeletion || x.updated > m.t-markedGrace {
			continue
		}
		if m.unhealthy {
			switch (int(chance) + x.n*5 + int(m.t/10)) % 7 {
			case 0: // the object cannot be deleted, and its row stays
				x.updated = m.t
				continue
			case 1: // the store says deleted and keeps the object
				m.trace("%4d  the janitor removes the row of %s, but its object stays", m.t, x.object.ID)
				x.state = 0
				continue
			}
		}
		m.trace("%4d  the janitor removes %s", m.t, x.object.ID)
		x.state, x.present = 0, false
	}
}

// lose stops the world; a run of the janitor may have been under way.
func (m *model) lose(chance uint8) {
	for _, x := range m.splits {
		if x.state == metastore.MarkedForDeletion && x.updated <= m.t-markedGrace && (int(chance)+x.n)%3 == 0 && x.present {
			m.trace("%4d  the janitor removes the object of %s", m.t, x.object.ID)
			x.present = false
		}
	}
	m.trace("%4d  the metastore is lost", m.t)
}

func (m *model) rows() []modelRow {
	rows := []modelRow{}
	for _, x := range m.splits {
		if x.state != 0 {
			rows = append(rows, modelRow{x, Row{ID: x.object.ID, State: x.state, PublishTimestampSet: x.publishedOnce, EqualsObject: true}})
		}
	}
	return rows
}

func (d docs) String() string {
	var names []byte
	for i := range 64 {
		if d&(1<<i) != 0 {
			names = fmt.Appendf(names, "%d ", i)
		}
	}
	return fmt.Sprintf("{%s}", string(names[:max(len(names)-1, 0)]))
}
