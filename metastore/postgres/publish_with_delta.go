package postgres

import (
	"context"
	"slices"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
)

const publishOperation = "publishing splits"

// A transaction of publishes is closed at this many split ids. A single call may exceed them.
const maxGroupSplits = 10_000

// publication is one publish.
type publication struct {
	deltaOfPublish
	indexUID metastore.IndexUID
	// all are the ids of both lists, in the order of the request. An id in both is in no state that suits both.
	all       []string
	numStaged int // the first of all are to be published, the others to be marked

	record  *idempotency.Record // nil without an idempotency key
	refused error               // why it does not take place
}

func (s *Store) newPublication(request metastore.PublishSplitsRequest) *publication {
	staged := metastore.UniqueSplitIDs(request.StagedSplitIDs)
	return &publication{
		deltaOfPublish: deltaOfPublish{request.Delta, request.PublishToken},
		indexUID:       request.IndexUID,
		all:            slices.Concat(staged, metastore.UniqueSplitIDs(request.ReplacedSplitIDs)),
		numStaged:      len(staged),
		record:         s.record,
	}
}

func (p *publication) staged() []string { return p.all[:p.numStaged] }

func (p *publication) replaced() []string { return p.all[p.numStaged:] }

// newDeltaGroups has publishes with a checkpoint delta share transactions. Such publishes of one index exclude each other
// from the read of the checkpoint to the commit, so one transaction of an index runs at a time.
func (s *Store) newDeltaGroups() *callGroups[*publication] {
	return &callGroups[*publication]{
		operation: publishOperation,
		lanes:     1,
		fits: func(group []*publication, next *publication) bool {
			splits := len(next.all)
			for _, p := range group {
				splits += len(p.all)
			}
			return splits <= maxGroupSplits
		},
		run: s.publishEach,
	}
}

// publishDelta has a publish with a checkpoint delta made together with others of its index.
func (s *Store) publishDelta(ctx context.Context, p *publication) error {
	if err := s.refuseAtOnce(ctx, publishOperation, p.indexUID.IndexID); err != nil {
		return err
	}
	if err := s.deltas.join(ctx, p.indexUID, p); err != nil {
		return err
	}
	return p.refused
}

// publishEach makes publishes of one index, each with its own outcome in refused: together if nothing speaks against it.
func (s *Store) publishEach(ctx context.Context, uid metastore.IndexUID, publications []*publication) {
	err := s.publishTogether(ctx, uid, publications)
	if err == nil {
		for _, p := range publications {
			if p.record != nil && p.refused == nil {
				s.quota.add(p.record.Principal)
			}
		}
		return
	}
	// A right to remove records, which the user may lack, is needed only together.
	nothingDone := hasRecordConflict(err) || isLockTimeoutOfRecord(err) || hasState(err, stateInsufficientRights)
	for _, p := range publications {
		switch {
		case nothingDone, p.record != nil && isDisconnect(err):
			// By itself the record of one says what became of it.
			keyed := *s
			keyed.record = p.record
			p.refused = keyed.publishAlone(ctx, p)
		default:
			p.refused = failure(ctx, publishOperation, uid.IndexID, err)
		}
	}
}

// publishAlone makes one publish in a transaction of its own.
func (s *Store) publishAlone(ctx context.Context, p *publication) error {
	group := newPublishGroup(p.indexUID, []*publication{p})
	return s.changeLocked(ctx, publishOperation, p.indexUID.IndexID, group.lock, func() (decision, error) {
		decided := group.decide()
		return decided, p.refused
	})
}

// publishTogether makes publishes of one index in one transaction, in their order, and refuses those that cannot take
// place. An error of the driver is that of all of them, and nothing was done if it is about a record.
func (s *Store) publishTogether(ctx context.Context, uid metastore.IndexUID, publications []*publication) error {
	group := newPublishGroup(uid, publications)
	return s.repeatLocked(ctx, group.records(), group.lock, func() (decision, error) { return group.decide(), nil })
}

// publishGroup is a transaction of publishes of one index.
type publishGroup struct {
	uid          metastore.IndexUID
	publications []*publication
	ids          []string
	progress     *progress
	splits       lockedSplits
}

func newPublishGroup(uid metastore.IndexUID, publications []*publication) *publishGroup {
	g := &publishGroup{uid: uid, publications: publications}
	deltas := make([]deltaOfPublish, len(publications))
	for i, p := range publications {
		g.ids = append(g.ids, p.all...)
		deltas[i] = p.deltaOfPublish
	}
	g.progress = newProgress(uid, deltas...)
	return g
}

func (g *publishGroup) lock() []query {
	g.splits = lockedSplits{indexUID: g.uid, states: make(map[string]metastore.SplitState, len(g.ids))}
	queries := g.progress.lock()
	if len(g.ids) > 0 {
		queries = append(queries, g.splits.lock(g.ids))
	}
	return queries
}

// decide makes or refuses the publishes. The record of a publish that is refused goes.
func (g *publishGroup) decide() decision {
	var refused []*idempotency.Record
	for _, p := range g.publications {
		advance, err := g.progress.check(p.deltaOfPublish)
		if err == nil {
			err = checkPublish(p.all, p.numStaged, g.splits.states)
		}
		p.refused = err
		if err == nil {
			advance()
			g.splits.publish(p)
		} else if p.record != nil {
			refused = append(refused, p.record)
		}
	}
	return decision{writes: slices.Concat(g.progress.write(), g.splits.write(), removeRecords(refused))}
}

// records are those of the publishes, each once: of two with the same key the second fails, and is made alone.
func (g *publishGroup) records() (records []*idempotency.Record) {
	for _, p := range g.publications {
		if p.record != nil {
			records = append(records, p.record)
		}
	}
	return records
}

// lockedSplits are the splits that the publishes of a transaction name.
type lockedSplits struct {
	indexUID metastore.IndexUID
	// states holds the state of those that exist, as the publishes before have left it.
	states    map[string]metastore.SplitState
	changed   []string // in any state, each once
	published []string
}

func (l *lockedSplits) lock(ids []string) query {
	return query{
		sql:  lockSplitsSQL,
		args: [][]byte{textArgument(l.indexUID.String()), searchArgument(ids)},
		row: func(row columns) error {
			state, err := row.state(1)
			l.states[row.text(0)] = state
			return err
		},
	}
}

func (l *lockedSplits) publish(p *publication) {
	for _, id := range p.staged() {
		l.states[id] = metastore.Published
	}
	l.published = append(l.published, p.staged()...)
	l.changed = append(l.changed, p.staged()...)
	for _, id := range p.replaced() {
		l.states[id] = metastore.MarkedForDeletion
	}
	l.changed = append(l.changed, p.replaced()...)
}

func (l *lockedSplits) write() []query {
	if len(l.changed) == 0 {
		return nil
	}
	// One that was published by a call of the transaction may be replaced by the next one.
	changed := metastore.UniqueSplitIDs(l.changed)
	return []query{{sql: moveSplitsSQL, args: [][]byte{
		textArgument(l.indexUID.String()),
		textArrayArgument(changed),
		textArrayOf(len(changed), func(i int) string { return l.states[changed[i]].String() }),
		textArrayArgument(l.published),
	}}}
}
