package bench

import (
	"maps"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"google.golang.org/grpc/status"
)

// Report is what a run measured. It is written as JSON as it is.
type Report struct {
	Scenario Scenario `json:"scenario"`
	Clients  int      `json:"clients"`
	Batch    int      `json:"batch"`
	Splits   int      `json:"splits"`
	Results  []Result `json:"results"`
}

// Result is what was measured of one kind of call on one target. Rates are over the time in which
// the target had its turns. Latencies are of calls that succeeded.
type Result struct {
	Target         string  `json:"target"`
	Operation      string  `json:"operation"`
	Seconds        float64 `json:"seconds"`
	Calls          int64   `json:"calls"`
	Rows           int64   `json:"rows"`
	Errors         int64   `json:"errors"`
	CallsPerSecond float64 `json:"calls_per_second"`
	RowsPerSecond  float64 `json:"rows_per_second"`
	P50Millis      float64 `json:"p50_ms"`
	P99Millis      float64 `json:"p99_ms"`
	MaxMillis      float64 `json:"max_ms"`
	// ErrorSamples holds the first message of each gRPC code.
	ErrorSamples map[string]string `json:"error_samples,omitempty"`
}

// stats counts one kind of call of one client.
type stats struct {
	calls, rows, errors int64
	latencies           *hdrhistogram.Histogram // microseconds
	samples             map[string]string
}

func newStats() *stats {
	const significantDigits = 3
	return &stats{
		latencies: hdrhistogram.New(1, time.Hour.Microseconds(), significantDigits),
		samples:   make(map[string]string),
	}
}

func (s *stats) add(latency time.Duration, rows int, err error) {
	if err != nil {
		s.errors++
		state := status.Convert(err)
		if _, known := s.samples[state.Code().String()]; !known {
			s.samples[state.Code().String()] = state.Message()
		}
		return
	}
	s.calls++
	s.rows += int64(rows)
	// A call is bounded by its timeout, which is at most the largest value of the histogram.
	_ = s.latencies.RecordValue(min(latency.Microseconds(), time.Hour.Microseconds()))
}

func (s *stats) merge(other *stats) {
	s.calls += other.calls
	s.rows += other.rows
	s.errors += other.errors
	s.latencies.Merge(other.latencies)
	for code, message := range other.samples {
		if _, known := s.samples[code]; !known {
			s.samples[code] = message
		}
	}
}

func newReport(options *Options, targets []*target) *Report {
	report := &Report{Scenario: options.Scenario, Clients: options.Clients, Batch: options.Batch, Splits: options.Splits, Results: []Result{}}
	for _, t := range targets {
		total := make(map[string]*stats)
		for _, c := range t.clients {
			for operation, s := range c.stats {
				if total[operation] == nil {
					total[operation] = newStats()
				}
				total[operation].merge(s)
			}
		}
		for _, operation := range slices.Sorted(maps.Keys(total)) {
			report.Results = append(report.Results, total[operation].result(t, operation))
		}
	}
	return report
}

func (s *stats) result(t *target, operation string) Result {
	seconds := t.elapsed.Seconds()
	millis := func(quantile float64) float64 { return float64(s.latencies.ValueAtQuantile(quantile)) / 1000 }
	return Result{
		Target:         t.address,
		Operation:      operation,
		Seconds:        seconds,
		Calls:          s.calls,
		Rows:           s.rows,
		Errors:         s.errors,
		CallsPerSecond: float64(s.calls) / seconds,
		RowsPerSecond:  float64(s.rows) / seconds,
		P50Millis:      millis(50),
		P99Millis:      millis(99),
		MaxMillis:      float64(s.latencies.Max()) / 1000,
		ErrorSamples:   s.samples,
	}
}
