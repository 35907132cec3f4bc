package file

import (
	"maps"
	"sync"

	"holdfast/metastore/idempotency"
)

// Causes of another try to commit.
const (
	retryConflict = "conflict" // another process has committed an entry of the version
	retryStorage  = "storage"  // the storage gave no answer that tells what became of the entry
)

// recordStatistics counts what the logs of a store do with records. The zero value has counted nothing.
type recordStatistics struct {
	mu      sync.Mutex
	purged  uint64
	retries map[string]uint64
	records idempotency.Histogram
}

// recordBounds returns the upper bounds of the buckets for the records of a log.
func recordBounds() []uint64 {
	return []uint64{1, 10, 100, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000}
}

func (s *recordStatistics) retried(cause string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retries == nil {
		s.retries = map[string]uint64{}
	}
	s.retries[cause]++
}

// committed counts an entry that added records to a log, which had some before and has some after it.
func (s *recordStatistics) committed(before, added, after int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.purged += uint64(before + added - after)
	if s.records.Buckets == nil {
		s.records.Buckets = map[uint64]uint64{}
	}
	s.records.Count++
	s.records.Sum += uint64(after)
	for _, bound := range recordBounds() {
		if uint64(after) <= bound {
			s.records.Buckets[bound]++
		}
	}
}

// Statistics implements idempotency.Store.
func (s *Store) Statistics() idempotency.Statistics {
	counted := &s.env.statistics
	counted.mu.Lock()
	defer counted.mu.Unlock()
	logs := idempotency.LogStatistics{
		Records: idempotency.Histogram{Count: counted.records.Count, Sum: counted.records.Sum, Buckets: map[uint64]uint64{}},
		Retries: map[string]uint64{retryConflict: 0, retryStorage: 0},
	}
	for _, bound := range recordBounds() {
		logs.Records.Buckets[bound] = counted.records.Buckets[bound]
	}
	maps.Copy(logs.Retries, counted.retries)
	return idempotency.Statistics{Purged: counted.purged, Logs: &logs}
}
