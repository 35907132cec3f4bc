package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMemberTurnsNotReadyForAMomentWhenANodeAtItsAddressGoesAway(t *testing.T) {
	t.Parallel()
	self := MemberInfo{NodeID: "self", Generation: 9, GRPCAddress: "10.0.0.1:7281", Self: true, Live: true, Ready: true}
	other := func(change func(*MemberInfo)) MemberInfo {
		m := MemberInfo{NodeID: "other", Generation: 5, GRPCAddress: "10.0.0.1:7281", Live: true, Ready: true}
		change(&m)
		return m
	}
	pooled := other(func(*MemberInfo) {})
	dead := other(func(m *MemberInfo) { m.Live = false })
	notReady := other(func(m *MemberInfo) { m.Ready = false })
	elsewhere := other(func(m *MemberInfo) { m.Live, m.GRPCAddress = false, "10.0.0.2:7281" })
	earlier := other(func(m *MemberInfo) { m.Live, m.NodeID = false, "self" })
	answered := []int{5, 6, 7, 30, 31, 32} // seconds after the departure

	for _, test := range []struct {
		name          string
		before, after MemberInfo // for 10 s, and then
		want          []int      // seconds after the change at which the member is not ready
	}{
		{"it dies", pooled, dead, answered},
		{"it leaves", pooled, notReady, answered},
		{"it was dead when this one came", elsewhere, dead, answered},
		{"it lives on", pooled, pooled, nil},
		{"it was never ready", notReady, notReady, nil},
		{"it is at another address", elsewhere, elsewhere, nil},
		{"it is an earlier run of this node", earlier, earlier, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var r reannouncer
			now := time.Unix(1_796_040_121, 0)
			for range 10 {
				require.False(t, r.observe(now, []MemberInfo{self, test.before}))
				now = now.Add(time.Second)
			}
			var got []int
			for second := range 60 {
				if r.observe(now, []MemberInfo{self, test.after}) {
					got = append(got, second)
				}
				now = now.Add(time.Second)
			}
			require.Equal(t, test.want, got)
			require.False(t, r.observe(now, []MemberInfo{self}))
			require.Empty(t, r.departures, "who is forgotten is forgotten here too")
		})
	}
}

func TestNewNodeAtTheAddressOfAnotherOneIsTakenBackByNodes(t *testing.T) {
	t.Parallel()
	observer := start(t, 1, nil, nil)
	seeds := []string{observer.GossipAddress().String()}
	former := start(t, 2, seeds, func(o *Options) { o.NodeID = "former" })
	former.SetReady(true)
	eventually(t, "the former node is known", func() bool { return observer.find(former).Ready })
	require.NoError(t, former.Close())

	present := start(t, 2, seeds, func(o *Options) { o.NodeID = "present" })
	present.SetReady(true)
	eventually(t, "the present node is known", func() bool { return observer.find(present).Ready })
	eventually(t, "it turns not ready", func() bool { return !observer.find(present).Ready })
	eventually(t, "it turns ready again", func() bool { return observer.find(present).Ready })
	require.True(t, observer.find(present).Live)
}
