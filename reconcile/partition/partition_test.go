package partition

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"holdfast/reconcile/splitfile/segment"
)

// TestSipHashIsThePublishedOne compares with the vector of an empty input and of eight zeroes, for a key
// of zeroes.
func TestSipHashIsThePublishedOne(t *testing.T) {
	t.Parallel()
	require.Equal(t, uint64(0x1e924b9d737700d7), sipHash(nil))
	require.NotEqual(t, sipHash(make([]byte, 7)), sipHash(make([]byte, 8)))
}

func of(t *testing.T, key string, doc Document) uint64 {
	t.Helper()
	k, err := ParseKey(key)
	require.NoError(t, err)
	id, err := k.Of(doc)
	require.NoError(t, err)
	return id
}

func TestThePartitionDependsOnTheKeyAndOnWhatItSelects(t *testing.T) {
	t.Parallel()
	doc := Document{
		{Key: "tenant", Value: uint64(7)}, {Key: "region", Value: "eu"},
		{Key: "a", Value: segment.Object{{Key: "b", Value: true}}}, {Key: "a.b", Value: nil},
	}
	require.Zero(t, of(t, "", doc))
	seen := map[uint64]string{}
	for _, key := range []string{
		"tenant", "region", "absent", "tenant,region", "region,tenant", "hash_mod(tenant, 5)", "hash_mod((tenant,region), 5)", "a.b", `a\.b`,
		"hash_mod(hash_mod(tenant, 5), 3), region",
	} {
		id := of(t, key, doc)
		require.Empty(t, seen[id], "%s", key)
		seen[id] = key
	}
	require.Equal(t, of(t, "(tenant)", doc), of(t, " tenant ", doc))
}

func TestEqualNumbersAndOrdersOfKeysAreInOnePartition(t *testing.T) {
	t.Parallel()
	one := func(v segment.Value) uint64 { return of(t, "f", Document{{Key: "f", Value: v}}) }
	require.Equal(t, one(uint64(5)), one(int64(5)))
	require.Equal(t, one(0.0), one(negativeZero()))
	require.Equal(t,
		one(segment.Object{{Key: "a", Value: nil}, {Key: "b", Value: []segment.Value{"x"}}}),
		one(segment.Object{{Key: "b", Value: []segment.Value{"x"}}, {Key: "a", Value: nil}}))
	require.NotEqual(t, one(nil), of(t, "f", Document{}), "null is not absent")
}

func negativeZero() float64 { zero := 0.0; return -1 / (1 / zero) * 0 }

func TestWhatWasNoJSONIsNotGuessed(t *testing.T) {
	t.Parallel()
	for key, value := range map[string]segment.Value{"f": time.Unix(0, 0), "hash_mod(f, 0)": "x"} {
		k, err := ParseKey(key)
		require.NoError(t, err)
		_, err = k.Of(Document{{Key: "f", Value: value}})
		require.ErrorIs(t, err, ErrNotExact)
	}
}

func TestMalformedKeysAreRefused(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"a,", ",", "(a", "a)", "md5(a)", "hash_mod(a)", "hash_mod(a, b)", "hash_mod(, 1)", "a b"} {
		_, err := ParseKey(key)
		require.ErrorContains(t, err, "partition key", key)
	}
}

func FuzzPartitionKeys(f *testing.F) {
	f.Add("hash_mod((tenant,region), 5), a\\.b")
	f.Fuzz(func(t *testing.T, text string) {
		if key, err := ParseKey(text); err == nil {
			_, _ = key.Of(Document{{Key: "tenant", Value: uint64(1)}})
		}
	})
}
