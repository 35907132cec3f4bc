package idempotency

import "time"

// Statistics is what a store knows about its records, since it was opened and by this process alone.
type Statistics struct {
	// Purged counts the records that were removed because of their age.
	Purged uint64
	// Purge is about removals in the background. Nil if the store removes old records when it writes new ones.
	Purge *PurgeStatistics
	// Logs is about records in logs. Nil if the store has none.
	Logs *LogStatistics
}

// PurgeStatistics is about removals in the background.
type PurgeStatistics struct {
	// Failures counts the runs in which old records could not be removed.
	Failures uint64
	// Measured tells whether a run has measured what follows; all is zero before.
	Measured bool
	// Records is about how many records there were at the end of the last run.
	Records int64
	// Lag is by how much the oldest record had then outlived the time for which it must be kept; 0 if it had not.
	Lag time.Duration
}

// LogStatistics is about the logs of all indexes and of the templates.
type LogStatistics struct {
	// Records tells how many records a log held after each commit that added some.
	Records Histogram
	// Retries counts, by its cause, how often a commit was tried again, with keys or without.
	Retries map[string]uint64
}

// Histogram counts values. The zero value counts nothing.
type Histogram struct {
	Count, Sum uint64
	// Buckets maps upper bounds to how many values are not above.
	Buckets map[uint64]uint64
}
