package postgres

import (
	"context"
	"sync"
	"time"

	"holdfast/metastore/idempotency"
)

// recordStatistics is what the purge tells about the records. The zero value has counted nothing.
type recordStatistics struct {
	mu     sync.Mutex
	purged uint64
	purge  idempotency.PurgeStatistics
}

func (s *recordStatistics) removed(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.purged += uint64(n)
}

func (s *recordStatistics) failed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.purge.Failures++
}

func (s *recordStatistics) measured(records int64, lag time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.purge.Measured, s.purge.Records, s.purge.Lag = true, records, lag
}

// Statistics implements idempotency.Store.
func (s *Store) Statistics() idempotency.Statistics {
	s.statistics.mu.Lock()
	defer s.statistics.mu.Unlock()
	purge := s.statistics.purge
	return idempotency.Statistics{Purged: s.statistics.purged, Purge: &purge}
}

// measureRecords finds out about how many records there are, without counting them, and how old the oldest is.
func (s *Store) measureRecords(ctx context.Context, now time.Time) error {
	var records int64
	var lag time.Duration
	err := s.read(ctx, "measuring idempotency records", func() []query {
		records, lag = 0, 0
		return []query{{sql: measureRecordsSQL, row: func(row columns) error {
			records = row.int8(0)
			if oldest := (idempotency.Key{}); copy(oldest[:], row[1]) == len(oldest) {
				lag = max(0, s.options.IdempotencyWindow.Purgeable(now).Sub(oldest.Time()))
			}
			return nil
		}}}
	})
	if err == nil {
		s.statistics.measured(records, lag)
	}
	return err
}
