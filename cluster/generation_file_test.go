package cluster

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGenerationFileKeepsTheLastGeneration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := GenerationFile(filepath.Join(dir, "generation"))
	last, err := file.Load()
	require.NoError(t, err)
	require.Zero(t, last)
	for _, generation := range []uint64{7, 1<<64 - 1} {
		require.NoError(t, file.Save(generation))
		last, err = file.Load()
		require.NoError(t, err)
		require.Equal(t, generation, last)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing else is left behind")
}

func TestFileThatHoldsNoGenerationIsAnError(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "generation")
	for _, text := range []string{"", "x", "-1", "1 2", "18446744073709551616"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := GenerationFile(path).Load()
		require.ErrorContains(t, err, "does not hold a number")
	}
	_, err := GenerationFile(t.TempDir()).Load()
	require.Error(t, err)
	require.Error(t, GenerationFile(filepath.Join(t.TempDir(), "missing", "generation")).Save(1))
}

func TestMemberGoesOnAboveAGenerationFromTheFuture(t *testing.T) {
	t.Parallel()
	file := GenerationFile(filepath.Join(t.TempDir(), "generation"))
	future := uint64(time.Now().Add(time.Hour).UnixNano())
	require.NoError(t, file.Save(future))
	for run := range uint64(3) {
		last, err := file.Load()
		require.NoError(t, err)
		m := start(t, 1, nil, func(o *Options) { o.LastGeneration, o.Remember = last, file.Save })
		require.Equal(t, future+run+1, m.Generation())
		require.NoError(t, m.Close())
	}
}
