package output_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/cmd/metastore/internal/output"
)

func TestATableAlignsItsColumns(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	table := output.NewTable(&out, "NAME", ">SIZE", "NOTE")
	require.NoError(t, table.Row("a", "1", "x"))
	require.NoError(t, table.Row("lönger", "1 000 000", ""))
	require.NoError(t, table.Close())
	require.Equal(t, "NAME         SIZE  NOTE\na               1  x\nlönger  1 000 000  -\n", out.String())
}

func TestATableWritesLongInputsChunkByChunk(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	table := output.NewTable(&out, "A", "B")
	for range 10_000 {
		require.NoError(t, table.Row("x", "y"))
	}
	require.NotZero(t, out.Len(), "rows must not be held back until the end")
	require.NoError(t, table.Close())
	require.Equal(t, 10_001, strings.Count(out.String(), "\n"))
}

func TestATableKeepsCellsFromControllingTheTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	table := output.NewTable(&out, "A")
	require.NoError(t, table.Row("a\x1b[2Jb\nc"))
	require.NoError(t, table.Close())
	require.Equal(t, "A\na\uFFFD[2Jb\uFFFDc\n", out.String())
}

func TestAnArrayIsJSONOnlyWhenItIsClosed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	array := output.NewArray(&out)
	require.NoError(t, array.Close())
	require.Equal(t, "[]\n", out.String())

	out.Reset()
	array = output.NewArray(&out)
	require.NoError(t, array.Element([]byte(`{"a":1}`)))
	require.NoError(t, array.Element([]byte(`2`)))
	require.NoError(t, array.Close())
	require.Equal(t, "[\n{\"a\":1},\n2\n]\n", out.String())

	out.Reset()
	array = output.NewArray(&out)
	require.NoError(t, array.Element([]byte(`1`)))
	require.NoError(t, array.Abort())
	require.Equal(t, "[\n1", out.String())
}

func TestNumbersAreReadable(t *testing.T) {
	t.Parallel()
	require.Equal(t, "0", output.Count(0))
	require.Equal(t, "999", output.Count(999))
	require.Equal(t, "1 000", output.Count(1000))
	require.Equal(t, "-1 234 567", output.Count(-1234567))
	require.Equal(t, "18 446 744 073 709 551 615", output.Count(uint64(1<<64-1)))

	require.Equal(t, "1 split", output.Plural(1, "split"))
	require.Equal(t, "0 indexes", output.Plural(0, "index"))
	require.Equal(t, "1 200 batches", output.Plural(1200, "batch"))

	for n, want := range map[uint64]string{0: "0 B", 999: "999 B", 1000: "1.00 kB", 16735: "16.7 kB", 999_499: "999 kB", 999_500: "1.00 MB", 1<<64 - 1: "18.4 EB"} {
		require.Equal(t, want, output.Bytes(n))
	}

	require.Equal(t, "1970-01-01 00:00:00", output.Seconds(0))
	require.Equal(t, "-9223372036854775808", output.Seconds(-1<<63))
}
