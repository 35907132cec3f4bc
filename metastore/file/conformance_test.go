package file

import (
	"path/filepath"
	"testing"

	"holdfast/metastore"
	"holdfast/metastore/storetest"
)

var fileProfile = storetest.Profile{CreateWithShards: func(t *testing.T, store metastore.Store, metadata *metastore.IndexMetadata, shards []metastore.Shard) {
	importText(t, store.(*Store), metadata.IndexUID.IndexID, storetest.PeerDocument(metadata, shards))
}}

func TestTheStoreOnALocalDirectoryConforms(t *testing.T) {
	t.Parallel()
	storetest.Run(t, fileProfile, func(t *testing.T) metastore.Store {
		return openURL(t, filepath.Join(t.TempDir(), "store"))
	})
}

func TestTheStoreInMemoryConforms(t *testing.T) {
	t.Parallel()
	storetest.Run(t, fileProfile, func(t *testing.T) metastore.Store { return openURL(t, "mem://") })
}

func TestTheStoreThatSnapshotsAndTrimsAllTheTimeConforms(t *testing.T) {
	t.Parallel()
	storetest.Run(t, fileProfile, func(t *testing.T) metastore.Store {
		return trimEagerly(openOn(t, memBucket(t), snapshotEvery(2)))
	})
}

func openURL(t *testing.T, url string) metastore.Store {
	t.Helper()
	s, err := Open(t.Context(), Options{URL: url})
	if err != nil {
		t.Fatalf("open %s: %v", url, err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}
