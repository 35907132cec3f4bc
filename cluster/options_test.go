package cluster

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAddressesAreIPAndPort(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10.0.0.1:7282":          "10.0.0.1:7282",
		"[fd00::1]:7282":         "[fd00::1]:7282",
		"[::ffff:10.0.0.1]:7282": "10.0.0.1:7282",
	} {
		got, err := ParseAddress(text)
		require.NoError(t, err)
		require.Equal(t, want, got.String())
	}
	for _, text := range []string{"", "localhost:7282", "10.0.0.1", ":7282", "10.0.0.1:70000", "metastore.example.com:7282"} {
		_, err := ParseAddress(text)
		require.ErrorContains(t, err, "is not IP:PORT", text)
	}
}

func TestNodeIDFollowsFromTheAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"10.0.0.1:7281":          "holdfast-10-0-0-1-7281",
		"[fd00::1]:7281":         "holdfast-fd00-0000-0000-0000-0000-0000-0000-0001-7281",
		"[::ffff:10.0.0.1]:7281": "holdfast-10-0-0-1-7281",
	} {
		got := DefaultNodeID(netip.MustParseAddrPort(address))
		require.Equal(t, want, got)
		require.NoError(t, CheckNodeID(got))
	}
}

func TestNodeIDIsAShortHostName(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a", "metastore-0", "A1", strings.Repeat("x", 63)} {
		require.NoError(t, CheckNodeID(id))
	}
	for _, id := range []string{"", "-a", "a-", "a.b", "a_b", "ä", "a\n", strings.Repeat("x", 64)} {
		require.Error(t, CheckNodeID(id), "%q", id)
	}
}

func TestGenerationIsTheTimeAndAlwaysRises(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_796_040_121, 71_985_505)
	require.Equal(t, uint64(1_796_040_121_071_985_505), NextGeneration(now, 0))
	require.Equal(t, uint64(1_796_040_121_071_985_505), NextGeneration(now, 7))
	later := uint64(1_796_040_121_071_985_505)
	require.Equal(t, later+1, NextGeneration(now, later))
	require.Equal(t, later+1, NextGeneration(now.Add(-time.Hour), later), "the clock was set back")
	require.Equal(t, uint64(1), NextGeneration(time.Unix(-1, 0), 0))
}

func TestMemberStartsAboveItsLastGeneration(t *testing.T) {
	t.Parallel()
	last := uint64(time.Now().Add(time.Hour).UnixNano())
	m := start(t, 1, nil, func(o *Options) { o.LastGeneration = last })
	require.Equal(t, last+1, m.Generation())
}

type fakeResolver map[string][]netip.Addr

func (f fakeResolver) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	addresses, found := f[host]
	if !found {
		return nil, errors.New("no such host")
	}
	return addresses, nil
}

func TestSeedsAreAddressesOrNamesWithOrWithoutPort(t *testing.T) {
	t.Parallel()
	resolver := fakeResolver{"metastore": {netip.MustParseAddr("10.0.0.5"), netip.MustParseAddr("10.0.0.6")}}
	for text, want := range map[string][]string{
		"10.0.0.1":       {"10.0.0.1:7282"},
		"10.0.0.1:80":    {"10.0.0.1:80"},
		"fd00::1":        {"[fd00::1]:7282"},
		"[fd00::1]":      {"[fd00::1]:7282"},
		"[fd00::1]:80":   {"[fd00::1]:80"},
		"metastore":      {"10.0.0.5:7282", "10.0.0.6:7282"},
		"metastore:7000": {"10.0.0.5:7000", "10.0.0.6:7000"},
	} {
		seeds, err := parseSeeds([]string{text, text}, 7282)
		require.NoError(t, err, text)
		addresses, err := resolve(t.Context(), resolver, "ip", seeds)
		require.NoError(t, err, text)
		var got []string
		for _, a := range addresses {
			got = append(got, a.String())
		}
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", ":80", "host:0", "host:port", "host:70000", "a b", "http://host:80", "0.0.0.0:80", "[::]", strings.Repeat("x", 254)} {
		_, err := parseSeeds([]string{text}, 7282)
		require.Error(t, err, "%q", text)
	}
}

func TestNameThatCannotBeLookedUpKeepsItsAddresses(t *testing.T) {
	t.Parallel()
	resolver := fakeResolver{"a": {netip.MustParseAddr("10.0.0.1")}, "b": {netip.MustParseAddr("10.0.0.2")}}
	seeds, err := parseSeeds([]string{"a", "b"}, 80)
	require.NoError(t, err)
	_, err = resolve(t.Context(), resolver, "ip", seeds)
	require.NoError(t, err)

	delete(resolver, "a")
	resolver["b"] = []netip.Addr{netip.MustParseAddr("10.0.0.3")}
	addresses, err := resolve(t.Context(), resolver, "ip", seeds)
	require.ErrorContains(t, err, `look up seed "a"`)
	require.Equal(t, []netip.AddrPort{netip.MustParseAddrPort("10.0.0.1:80"), netip.MustParseAddrPort("10.0.0.3:80")}, addresses)
}

func FuzzParseSeed(f *testing.F) {
	for _, text := range []string{"10.0.0.1", "host:80", "[fd00::1]:80", "::1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSeed(text, 7282)
		if err == nil && !s.address.IsValid() && s.host == "" {
			t.Fatalf("%q is neither an address nor a name", text)
		}
	})
}

func TestReadinessRule(t *testing.T) {
	t.Parallel()
	epoch := time.Unix(1_796_040_121, 0)
	failed := errors.New("store is gone")
	type check struct {
		second int
		err    error
		alone  bool
		want   bool
	}
	for _, test := range []struct {
		name   string
		checks []check
	}{
		{"nothing is known at first", []check{{0, failed, false, false}, {5, nil, false, true}}},
		{"one failure is put up with", []check{{0, nil, false, true}, {5, failed, false, true}, {10, nil, false, true}, {15, failed, false, true}}},
		{"among others it steps back after 8 s", []check{{0, nil, false, true}, {5, failed, false, true}, {10, failed, false, true}, {15, failed, false, false}, {20, nil, false, true}}},
		{"alone it steps back after 30 s", []check{{0, nil, true, true}, {5, failed, true, true}, {34, failed, true, true}, {35, failed, true, false}}},
		{"one slow check is one failure", []check{{0, nil, false, true}, {100, failed, false, true}}},
		{"when others come it steps back", []check{{0, nil, true, true}, {5, failed, true, true}, {15, failed, true, true}, {20, failed, false, false}}},
		{"it comes back with one success", []check{{0, nil, false, true}, {5, failed, false, true}, {15, failed, false, false}, {20, nil, false, true}, {25, failed, false, true}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var rule healthRule
			for i, c := range test.checks {
				require.Equal(t, c.want, rule.observe(epoch.Add(time.Duration(c.second)*time.Second), c.err, c.alone), "check %d", i)
			}
		})
	}
}
