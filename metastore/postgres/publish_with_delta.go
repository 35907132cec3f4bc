package postgres

import (
	"context"
	"slices"

	"holdfast/metastore"
)

const publishOperation = "publishing splits"

// publication is one publish.
type publication struct {
	deltaOfPublish
	indexUID metastore.IndexUID
	// all are the ids of both lists, in the order of the request. An id in both is in no state that suits both.
	all       []string
	numStaged int // the first of all are to be published, the others to be marked

	refused error // why it does not take place
}

func newPublication(request metastore.PublishSplitsRequest) *publication {
	staged := metastore.UniqueSplitIDs(request.StagedSplitIDs)
	return &publication{
		deltaOfPublish: deltaOfPublish{request.Delta, request.PublishToken},
		indexUID:       request.IndexUID,
		all:            slices.Concat(staged, metastore.UniqueSplitIDs(request.ReplacedSplitIDs)),
		numStaged:      len(staged),
	}
}

func (p *publication) staged() []string { return p.all[:p.numStaged] }

func (p *publication) replaced() []string { return p.all[p.numStaged:] }

// publishTogether makes publishes of one index in one transaction, in their order, and refuses those that cannot take
// place. An error is that of all of them.
func (s *Store) publishTogether(ctx context.Context, uid metastore.IndexUID, publications []*publication) error {
	var ids []string
	deltas := make([]deltaOfPublish, len(publications))
	for i, p := range publications {
		ids = append(ids, p.all...)
		deltas[i] = p.deltaOfPublish
	}
	progress := newProgress(uid, deltas...)
	var splits lockedSplits
	return s.changeLocked(ctx, publishOperation, uid.IndexID,
		func() []query {
			splits = lockedSplits{indexUID: uid, states: make(map[string]metastore.SplitState, len(ids))}
			queries := progress.lock()
			if len(ids) > 0 {
				queries = append(queries, splits.lock(ids))
			}
			return queries
		},
		func() ([]query, error) {
			for _, p := range publications {
				advance, err := progress.check(p.deltaOfPublish)
				if err == nil {
					err = checkPublish(p.all, p.numStaged, splits.states)
				}
				p.refused = err
				if err == nil {
					advance()
					splits.publish(p)
				}
			}
			return append(progress.write(), splits.write()...), nil
		})
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
