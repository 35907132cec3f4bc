package cluster

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

func TestMetricsTellOfMembersAndDatagrams(t *testing.T) {
	t.Parallel()
	first := start(t, 1, nil, nil)
	second := start(t, 2, []string{first.GossipAddress().String()}, nil)
	first.SetReady(true)
	eventually(t, "they see each other", func() bool { return first.find(second).Live })

	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(NewCollector(first)))
	families, err := registry.Gather()
	require.NoError(t, err)
	values := make(map[string]float64)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, label := range m.GetLabel() {
				name += " " + label.GetValue()
			}
			values[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	require.Equal(t, 2.0, values["holdfast_cluster_members live"])
	require.Equal(t, 0.0, values["holdfast_cluster_members dead"])
	require.Equal(t, 1.0, values["holdfast_cluster_ready"])
	require.Positive(t, values["holdfast_cluster_gossip_rounds_total"])
	require.Positive(t, values["holdfast_cluster_gossip_bytes_total received"])
	require.Positive(t, values["holdfast_cluster_gossip_datagrams_total sent"])
	require.Zero(t, values["holdfast_cluster_gossip_dropped_total malformed"])
}
