package postgres

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
)

// Calls that stage or publish one split, by far the most frequent sort, share transactions when many come at a time: to
// parse, to plan and to commit costs more than a row, and so does the record of a key.
const (
	// splitLanes is how many transactions of one sort and index run at a time.
	splitLanes = 2
	// splitPatience bounds how long calls wait because of what others of their group, or before them, wait for.
	splitPatience = 100 * time.Millisecond
	// maxGroupBytes bounds the documents of a group, in bytes. A single one may exceed it.
	maxGroupBytes = 1 << 20
)

// splitCall is a call that stages or publishes one split.
type splitCall struct {
	id       string
	staged   *metastore.SplitMetadata // nil in a publish
	document int                      // the size of its document in bytes
	record   *idempotency.Record      // nil without an idempotency key

	err error // the outcome
	// apart says that nothing was done, because of this call or of another: it has to be made by itself.
	apart bool
}

// splitCalls makes calls of one sort.
type splitCalls struct {
	operation string
	// apart makes a call by itself, with the record of the store.
	apart func(*Store, context.Context, metastore.IndexUID, *splitCall) error
	// together returns the queries that make the calls, which are sorted by split id, all or none.
	together func(metastore.IndexUID, []*splitCall) []query

	store  *Store
	groups *callGroups[*splitCall]
}

// share lets the calls share transactions.
func (c *splitCalls) share(s *Store) *splitCalls {
	c.store = s
	c.groups = &callGroups[*splitCall]{operation: c.operation, lanes: splitLanes, patience: splitPatience, fits: fitsSplitCall, run: c.run}
	return c
}

// fitsSplitCall reports whether a call may join those of a group. No statement writes a row twice.
func fitsSplitCall(group []*splitCall, next *splitCall) bool {
	size := next.document
	for _, call := range group {
		if call.id == next.id {
			return false
		}
		size += call.document
	}
	return size <= maxGroupBytes
}

// make has a call made, perhaps together with others of its sort and index.
func (c *splitCalls) make(ctx context.Context, s *Store, uid metastore.IndexUID, call *splitCall) error {
	if err := s.refuseAtOnce(ctx, c.operation, uid.IndexID); err != nil {
		return err
	}
	call.record = s.record
	if err := c.groups.join(ctx, uid, call); err != nil {
		return err
	}
	if call.apart {
		return c.apart(s, ctx, uid, call)
	}
	return call.err
}

// run makes the calls of a group in one transaction, or leaves each to be made by itself.
func (c *splitCalls) run(ctx context.Context, uid metastore.IndexUID, group []*splitCall) {
	if len(group) == 1 {
		keyed := *c.store
		keyed.record = group[0].record
		group[0].err = c.apart(&keyed, ctx, uid, group[0])
		return
	}
	slices.SortFunc(group, func(a, b *splitCall) int { return strings.Compare(a.id, b.id) })
	var records []*idempotency.Record
	for _, call := range group {
		if call.record != nil {
			records = append(records, call.record)
		}
	}
	queries := []query{{sql: setLockTimeoutSQL, args: [][]byte{textArgument(strconv.FormatInt(splitPatience.Milliseconds(), 10))}}}
	if len(records) > 0 {
		queries = append(queries, c.store.insertRecords(records...))
	}
	queries = append(queries, c.together(uid, group)...)
	err := c.store.repeat(ctx, isAborted, func() []query { return queries })
	for _, call := range group {
		switch {
		case err == nil && call.record != nil:
			c.store.quota.add(call.record.Principal)
		case err == nil:
		case isRefusal(err) && ctx.Err() == nil:
			call.apart = true
		case isDisconnect(err) && call.record != nil:
			// By itself its record says what became of it.
			call.apart = true
		default:
			call.err = failure(ctx, c.operation, uid.IndexID, err)
		}
	}
}
