package rpc_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"holdfast/metastore/idempotency"
	"holdfast/metastore/rpc"
)

// measuredStore tells what it is told about its records.
type measuredStore struct {
	idempotency.Store
	known idempotency.Statistics
}

func (s measuredStore) Statistics() idempotency.Statistics { return s.known }

// scraped returns the values of the metrics of records, by their name and label.
func scraped(t *testing.T, registry prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		name, ours := strings.CutPrefix(family.GetName(), "metastore_idempotency_")
		if !ours || name == "requests_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			key := name
			for _, label := range metric.GetLabel() {
				key += " " + label.GetName() + "=" + label.GetValue()
			}
			switch {
			case metric.GetHistogram() != nil:
				values[key+" count"] = float64(metric.GetHistogram().GetSampleCount())
				values[key+" sum"] = metric.GetHistogram().GetSampleSum()
				for _, bucket := range metric.GetHistogram().GetBucket() {
					values[fmt.Sprint(key, " <=", bucket.GetUpperBound())] = float64(bucket.GetCumulativeCount())
				}
			case metric.GetGauge() != nil:
				values[key] = metric.GetGauge().GetValue()
			default:
				values[key] = metric.GetCounter().GetValue()
			}
		}
	}
	return values
}

func TestWhatAStoreKnowsAboutItsRecordsIsScraped(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		known idempotency.Statistics
		want  map[string]float64
	}{
		"removals in the background that were not run yet": {
			known: idempotency.Statistics{Purge: &idempotency.PurgeStatistics{}},
			want:  map[string]float64{"purged_total": 0, "purge_failures_total": 0},
		},
		"removals in the background": {
			known: idempotency.Statistics{Purged: 7, Purge: &idempotency.PurgeStatistics{Failures: 2, Measured: true, Records: 40, Lag: 1500 * time.Millisecond}},
			want:  map[string]float64{"purged_total": 7, "purge_failures_total": 2, "records": 40, "purge_lag_seconds": 1.5},
		},
		"logs": {
			known: idempotency.Statistics{Purged: 7, Logs: &idempotency.LogStatistics{
				Records: idempotency.Histogram{Count: 2, Sum: 12, Buckets: map[uint64]uint64{1: 0, 10: 1}}, Retries: map[string]uint64{"conflict": 3},
			}},
			want: map[string]float64{"purged_total": 7, "cas_retries_total cause=conflict": 3,
				"window_entries count": 2, "window_entries sum": 12, "window_entries <=1": 0, "window_entries <=10": 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			registry := prometheus.NewPedanticRegistry()
			serve(t, measuredStore{memStore(t).(idempotency.Store), test.known}, rpc.ServerOptions{Registerer: registry})
			if got := scraped(t, registry); !maps.Equal(got, test.want) {
				t.Errorf("scraped %v\nwant %v", got, test.want)
			}
		})
	}
}
