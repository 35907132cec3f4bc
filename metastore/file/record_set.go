package file

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/tidwall/btree"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
)

// recordSet holds the idempotency records of one log, in the order of their keys, which is that of
// time. It is copied and shared as a splitSet is.
type recordSet struct {
	tree *btree.BTreeG[*idempotency.Record]
	// unreadable are the texts of records that could not be read, such as those of another release. They are kept as they
	// are, and while there is one no call with a key of which no record is known is executed: it could be that call's.
	unreadable []string
}

func newRecordSet() recordSet {
	less := func(a, b *idempotency.Record) bool {
		return cmp.Or(bytes.Compare(a.Key[:], b.Key[:]), bytes.Compare(a.Principal[:], b.Principal[:])) < 0
	}
	return recordSet{tree: btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})}
}

func (s *recordSet) copy() recordSet {
	return recordSet{tree: s.tree.Copy(), unreadable: slices.Clip(s.unreadable)}
}

func (s *recordSet) len() int { return s.tree.Len() + len(s.unreadable) }

func (s *recordSet) find(key idempotency.Key, principal idempotency.Principal) *idempotency.Record {
	record, _ := s.tree.Get(&idempotency.Record{Key: key, Binding: idempotency.Binding{Principal: principal}})
	return record
}

func (s *recordSet) put(record *idempotency.Record) { s.tree.Set(record) }

// purge removes the records whose keys are of before the time.
func (s *recordSet) purge(before time.Time) {
	for {
		oldest, ok := s.tree.Min()
		if !ok || !oldest.Key.Time().Before(before) {
			return
		}
		s.tree.Delete(oldest)
	}
}

// recordBytes is about what a record takes in an entry.
const recordBytes = 400

// once is submit for a call that is executed once: with a record, the change is refused if the log has a
// record of the key, and committed together with the record otherwise. A change that turns out to be
// none leaves no record.
func (l *commitLog[S]) once(ctx context.Context, record *idempotency.Record, bytes int, decide func(s S, version uint64, changed bool) ([]op, error)) error {
	if record == nil {
		return l.submit(ctx, bytes, decide)
	}
	window := l.env.options.IdempotencyWindow
	return l.submit(ctx, bytes+recordBytes, func(s S, version uint64, changed bool) ([]op, error) {
		if err := s.recorded().refuseExecuted(record); err != nil {
			return nil, err
		}
		ops, err := decide(s, version, changed)
		if err != nil || len(ops) == 0 {
			return nil, err
		}
		now := l.env.clock()
		purge := window.Purgeable(now)
		if err := s.recorded().refuseFull(l.env.options.MaxIdempotencyRecords, purge); err != nil {
			return nil, err
		}
		made := *record
		made.CreateTimestamp = now.Unix()
		return slices.Concat(ops, []op{recordOp{record: made, purge: purge}}), nil
	})
}

// refuseExecuted says that the call of a record was executed, or that its key was used for another.
func (s *recordSet) refuseExecuted(record *idempotency.Record) error {
	known := s.find(record.Key, record.Principal)
	if known == nil && len(s.unreadable) > 0 {
		return metastore.Internal(nil, "%d records of idempotency keys in the log cannot be read, and one may be that of this call; nothing was changed: a release that can read them may answer, and calls without a key are executed", len(s.unreadable))
	}
	if known == nil {
		return nil
	}
	if err := known.Check(record.Binding); err != nil {
		return err
	}
	return &idempotency.Replayed{Record: *known}
}

// refuseFull refuses another record when there are as many as may be, not counting those that the
// next one removes: forgetting a key that may still be used would undo its promise.
func (s *recordSet) refuseFull(limit int, purge time.Time) error {
	if s.len() < limit {
		return nil
	}
	oldest, _ := s.tree.Min()
	if oldest.Key.Time().Before(purge) {
		return nil
	}
	return &idempotency.Error{
		Reason:     idempotency.KeyQuota,
		Message:    "the log of the index remembers as many idempotency keys as it may; nothing was changed: wait, or send calls that may be repeated without a key",
		Metadata:   map[string]string{"limit": strconv.Itoa(limit), "scope": "object"},
		RetryAfter: max(time.Second, oldest.Key.Time().Sub(purge)),
	}
}

// WithRecord implements idempotency.Store.
func (s *Store) WithRecord(record idempotency.Record) metastore.Store {
	keyed := *s
	keyed.record = &record
	return &keyed
}

// KeyScope implements idempotency.Store: each log has its own records.
func (s *Store) KeyScope() idempotency.Scope { return idempotency.ScopeObject }
