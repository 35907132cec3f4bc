package metastore

import (
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestIndexUIDsAreOrderedByTheBytesOfTheirTexts(t *testing.T) {
	t.Parallel()
	uid := rapid.Custom(func(t *rapid.T) IndexUID {
		id := rapid.StringMatching(`[a1:0\-_\x00-\x02]{0,6}`).Draw(t, "id")
		if rapid.Bool().Draw(t, "looks like two uids") {
			id += ":" + ulid.ULID{15: 1}.String()
		}
		return IndexUID{IndexID: id, Incarnation: ulid.ULID{15: rapid.Byte().Draw(t, "incarnation")}}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := uid.Draw(t, "a"), uid.Draw(t, "b")
		if got, want := a.Compare(b), strings.Compare(a.String(), b.String()); got != want {
			t.Fatalf("%q.Compare(%q) = %d, want %d", a, b, got, want)
		}
	})
}

func TestALongerIndexIDMayComeFirst(t *testing.T) {
	t.Parallel()
	logs, logs1, logsX := IndexUID{IndexID: "logs"}, IndexUID{IndexID: "logs1"}, IndexUID{IndexID: "logs-x"}
	assert.Negative(t, logsX.Compare(logs1))
	assert.Negative(t, logs1.Compare(logs))
	assert.Positive(t, logs.Compare(logsX))
}

func TestComparingIndexUIDsAllocatesNothing(t *testing.T) {
	a, b := IndexUID{IndexID: "logs"}, IndexUID{IndexID: "logs1"}
	assert.Zero(t, testing.AllocsPerRun(100, func() { a.Compare(b) }))
}

func TestAnIndexUIDIsReadInEitherCaseAndWrittenInUpperCase(t *testing.T) {
	t.Parallel()
	uid, err := ParseIndexUID("a b:01j9zjx0a1b2c3d4e5f6g7h8j9")
	require.NoError(t, err)
	assert.Equal(t, "a b:01J9ZJX0A1B2C3D4E5F6G7H8J9", uid.String())
	for _, text := range []string{"", "logs", "logs:", "logs:0123", "logs:U1ARZ3NDEKTSV4RRFFQ69G5FAV", "logs:8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "a:b:01J9ZJX0A1B2C3D4E5F6G7H8J9"} {
		_, err := ParseIndexUID(text)
		assert.Error(t, err, text)
	}
}
