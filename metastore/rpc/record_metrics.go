package rpc

import (
	"github.com/prometheus/client_golang/prometheus"

	"holdfast/metastore/idempotency"
)

// recordMetrics are made of what the store knows about its records when they are asked for. They ask the store for
// nothing that it would have to look up.
type recordMetrics struct {
	store                                                   idempotency.Store
	purged, failures, lag, records, windowEntries, casRetry *prometheus.Desc
}

func newRecordMetrics(store idempotency.Store) *recordMetrics {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("metastore_idempotency_"+name, help, labels, nil)
	}
	return &recordMetrics{
		store:         store,
		purged:        describe("purged_total", "Records of idempotency keys that this server removed because of their age."),
		failures:      describe("purge_failures_total", "Runs in which this server could not remove old records of idempotency keys."),
		lag:           describe("purge_lag_seconds", "By how much the oldest record had outlived its time after the last removal."),
		records:       describe("records", "Estimate of the records of idempotency keys after the last removal."),
		windowEntries: describe("window_entries", "How many records of idempotency keys a log held after each commit that added some."),
		casRetry:      describe("cas_retries_total", "Commits to logs that were tried again, with idempotency keys or without.", "cause"),
	}
}

// Describe implements prometheus.Collector.
func (m *recordMetrics) Describe(descriptions chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.purged, m.failures, m.lag, m.records, m.windowEntries, m.casRetry} {
		descriptions <- d
	}
}

// Collect implements prometheus.Collector.
func (m *recordMetrics) Collect(metrics chan<- prometheus.Metric) {
	known := m.store.Statistics()
	counter := func(d *prometheus.Desc, value uint64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(value), labels...)
	}
	counter(m.purged, known.Purged)
	if purge := known.Purge; purge != nil {
		counter(m.failures, purge.Failures)
		if purge.Measured {
			metrics <- prometheus.MustNewConstMetric(m.lag, prometheus.GaugeValue, purge.Lag.Seconds())
			metrics <- prometheus.MustNewConstMetric(m.records, prometheus.GaugeValue, float64(purge.Records))
		}
	}
	if logs := known.Logs; logs != nil {
		for cause, count := range logs.Retries {
			counter(m.casRetry, count, cause)
		}
		buckets := make(map[float64]uint64, len(logs.Records.Buckets))
		for bound, count := range logs.Records.Buckets {
			buckets[float64(bound)] = count
		}
		metrics <- prometheus.MustNewConstHistogram(m.windowEntries, logs.Records.Count, float64(logs.Records.Sum), buckets)
	}
}
