package postgres

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"holdfast/metastore/idempotency"
)

// recordQuota bounds the records of one caller. To count them for each call would be dear; they are counted from time to
// time, and what this server adds meanwhile is added to that. Several servers may so exceed the limit for a while.
type recordQuota struct {
	limit int64

	mu     sync.Mutex
	counts map[idempotency.Principal]int64
}

func newRecordQuota(limit int64) *recordQuota {
	return &recordQuota{limit: limit, counts: map[idempotency.Principal]int64{}}
}

func (q *recordQuota) add(caller idempotency.Principal) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.counts[caller]++
}

func (q *recordQuota) isFull(caller idempotency.Principal) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.counts[caller] >= q.limit
}

func (q *recordQuota) set(counts map[idempotency.Principal]int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.counts = counts
}

// countRecords counts the records of each caller, if there are so many that one could have reached the limit.
func (s *Store) countRecords(ctx context.Context) error {
	counts := map[idempotency.Principal]int64{}
	err := s.read(ctx, "counting idempotency records", func() []query {
		clear(counts)
		return []query{{
			sql:  countRecordsSQL,
			args: [][]byte{int8Argument(s.quota.limit)},
			row: func(row columns) error {
				if length := len(row[0]); length != len(idempotency.Principal{}) {
					return fmt.Errorf("column principal has %d bytes, must have %d", length, len(idempotency.Principal{}))
				}
				counts[idempotency.Principal(row[0])] = row.int8(1)
				return nil
			},
		}}
	})
	if err == nil {
		s.quota.set(counts)
	}
	return err
}

// refuseAtOnce refuses a call before anything is done for it, because of the store or of the caller's records.
func (s *Store) refuseAtOnce(ctx context.Context, operation, indexID string) error {
	if err := s.refuseReadOnly(operation); err != nil || s.record == nil {
		return err
	}
	return failure(ctx, operation, indexID, s.refuseOverQuota(ctx, operation, s.record))
}

// refuseOverQuota refuses a call of a caller with too many records. What was executed before is told all the same.
func (s *Store) refuseOverQuota(ctx context.Context, operation string, record *idempotency.Record) error {
	if !s.quota.isFull(record.Principal) {
		return nil
	}
	return s.unlessExecuted(ctx, &idempotency.Error{
		Reason:     idempotency.KeyQuota,
		Message:    fmt.Sprintf("%s: the caller has %d idempotency keys or more that must be remembered; nothing was changed: wait, or send calls that may be repeated without a key", operation, s.quota.limit),
		Metadata:   map[string]string{"limit": strconv.FormatInt(s.quota.limit, 10), "scope": "caller"},
		RetryAfter: time.Minute,
	})
}
