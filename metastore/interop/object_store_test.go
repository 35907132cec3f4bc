package interop_test

import (
	"path/filepath"
	"strings"
	"testing"

	"holdfast/integration/objectstore"
)

// under returns the URL of a prefix of the bucket.
func under(service *objectstore.Store, prefix string) string {
	bucket, query, _ := strings.Cut(service.URL, "?")
	return strings.TrimSuffix(bucket, "/") + "/" + prefix + "?" + query
}

func TestStoresMoveBetweenBucketsAndDirectories(t *testing.T) {
	service := objectstore.S3(t)
	for _, variable := range service.Environment {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	store, theirs, back := under(service, "ours"), under(service, "theirs/deep"), t.TempDir()
	importStore(t, options(filepath.Join(peerStores, "events"), store))
	exportStore(t, options(store, theirs))
	second := t.TempDir()
	importStore(t, options(theirs+"#polling_interval=30s", second))
	exportStore(t, options(second, back))
	expectSameStores(t, back, filepath.Join(peerStores, "events"))
}
