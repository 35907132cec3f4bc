package replay

import (
	"testing"

	"holdfast/metastore/file"
)

func TestFileStoreAnswersAsThePeersFileBackedStore(t *testing.T) {
	t.Parallel()
	store, err := file.Open(t.Context(), file.Options{URL: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	Run(t, serve(t, store), File)
}
