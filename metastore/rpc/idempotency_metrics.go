package rpc

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// keyMetrics count calls with idempotency keys. No label holds a key, an index or a caller.
type keyMetrics struct {
	requests *prometheus.CounterVec
	wait     *prometheus.HistogramVec
	age      *prometheus.HistogramVec
}

func newKeyMetrics(registerer prometheus.Registerer) (*keyMetrics, error) {
	m := &keyMetrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "metastore_idempotency_requests_total",
			Help: "Mutating calls by what became of their idempotency key, and calls that ignore one.",
		}, []string{"operation", "outcome"}),
		wait: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "metastore_idempotency_wait_seconds",
			Help:    "How long calls waited for another call with their key.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 7),
		}, []string{"operation"}),
		age: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "metastore_idempotency_replay_age_seconds",
			Help:    "How old keys were when their call was answered again.",
			Buckets: prometheus.ExponentialBuckets(0.1, 4, 8),
		}, []string{"operation"}),
	}
	if registerer == nil {
		return m, nil
	}
	for _, collector := range []prometheus.Collector{m.requests, m.wait, m.age} {
		if err := registerer.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *keyMetrics) count(operation, outcome string) {
	m.requests.WithLabelValues(operation, outcome).Inc()
}

func (m *keyMetrics) waited(operation string, wait time.Duration) {
	m.wait.WithLabelValues(operation).Observe(wait.Seconds())
}

func (m *keyMetrics) replayed(operation string, age time.Duration) {
	m.age.WithLabelValues(operation).Observe(age.Seconds())
}
