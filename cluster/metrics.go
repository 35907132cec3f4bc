package cluster

import (
	"github.com/prometheus/client_golang/prometheus"
)

// metric is one counter of a member.
type metric struct {
	description *prometheus.Desc
	labels      []string
	value       func(*Counters) uint64
}

// collector makes metrics of what a member knows and counted, when it is asked for them.
type collector struct {
	member  *Member
	members *prometheus.Desc
	ready   *prometheus.Desc
	metrics []metric
}

// NewCollector returns the metrics of a member for Prometheus.
func NewCollector(m *Member) prometheus.Collector {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("holdfast_cluster_"+name, help, labels, nil)
	}
	rounds := describe("gossip_rounds_total", "Rounds of gossip.")
	datagrams := describe("gossip_datagrams_total", "Datagrams of gossip.", "direction")
	bytes := describe("gossip_bytes_total", "Bytes of gossip, without headers of UDP and IP.", "direction")
	dropped := describe("gossip_dropped_total", "Datagrams that were received and not used.", "reason")
	errors := describe("gossip_socket_errors_total", "Failures of the gossip socket.", "direction")
	deltas := describe("gossip_deltas_total", "Changes of one member's keys that were received.", "result")
	refused := describe("members_refused_total", "Times that a member was not believed in or had no room.")
	evicted := describe("members_evicted_total", "Dead members that were forgotten early to make room.")
	cut := describe("gossip_cut_digests_total", "Digests that were too large for a datagram.")
	conflicts := describe("identity_conflicts_total", "Signs that another process has the identity or the address of this one.")
	faults := describe("faults_total", "Bugs after which the member started again or did not answer.")
	return &collector{
		member:  m,
		members: describe("members", "Members that are known, this one included.", "state"),
		ready:   describe("ready", "1 if this member wants calls."),
		metrics: []metric{
			{rounds, nil, func(c *Counters) uint64 { return c.Rounds }},
			{datagrams, []string{"received"}, func(c *Counters) uint64 { return c.Received }},
			{datagrams, []string{"sent"}, func(c *Counters) uint64 { return c.Sent }},
			{bytes, []string{"received"}, func(c *Counters) uint64 { return c.ReceivedBytes }},
			{bytes, []string{"sent"}, func(c *Counters) uint64 { return c.SentBytes }},
			{dropped, []string{"network"}, func(c *Counters) uint64 { return c.RefusedNetwork }},
			{dropped, []string{"malformed"}, func(c *Counters) uint64 { return c.Malformed }},
			{dropped, []string{"unasked"}, func(c *Counters) uint64 { return c.Unasked }},
			{dropped, []string{"foreign_cluster"}, func(c *Counters) uint64 { return c.ForeignCluster + c.BadCluster }},
			{errors, []string{"received"}, func(c *Counters) uint64 { return c.ReceiveErrors }},
			{errors, []string{"sent"}, func(c *Counters) uint64 { return c.SendErrors }},
			{deltas, []string{"applied"}, func(c *Counters) uint64 { return c.Deltas }},
			{deltas, []string{"rejected"}, func(c *Counters) uint64 { return c.RejectedDeltas }},
			{deltas, []string{"over_limit"}, func(c *Counters) uint64 { return c.OverLimit }},
			{refused, nil, func(c *Counters) uint64 { return c.RefusedMembers }},
			{evicted, nil, func(c *Counters) uint64 { return c.Evicted }},
			{cut, nil, func(c *Counters) uint64 { return c.CutDigests }},
			{conflicts, nil, func(c *Counters) uint64 { return c.IdentityConflicts }},
			{faults, nil, func(c *Counters) uint64 { return c.Panics + c.Unwritable }},
		},
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(descriptions chan<- *prometheus.Desc) {
	prometheus.DescribeByCollect(c, descriptions)
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(metrics chan<- prometheus.Metric) {
	states := map[string]int{"live": 0, "dead": 0}
	isReady := 0
	for _, member := range c.member.Members() {
		state := "dead"
		if member.Live {
			state = "live"
		}
		states[state]++
		if member.Self && member.Ready {
			isReady = 1
		}
	}
	for state, count := range states {
		metrics <- prometheus.MustNewConstMetric(c.members, prometheus.GaugeValue, float64(count), state)
	}
	metrics <- prometheus.MustNewConstMetric(c.ready, prometheus.GaugeValue, float64(isReady))
	counters := c.member.Counters()
	for _, m := range c.metrics {
		metrics <- prometheus.MustNewConstMetric(m.description, prometheus.CounterValue, float64(m.value(&counters)), m.labels...)
	}
}
