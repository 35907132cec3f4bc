package reconcile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"holdfast/integration/objectstore"
	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// Not parallel: it sets the environment of the process.
func TestABucketOfEachServiceIsReconciledByItsURLUnderItsEnvironment(t *testing.T) {
	for _, test := range []struct {
		name, scheme string // of the URL; empty for the service's own
		start        func(testing.TB) *objectstore.Store
	}{
		{"S3", "", objectstore.S3},
		{"S3 with a flavour", "s3+minio", objectstore.S3},
		{"GCS", "", objectstore.GCS},
		{"Azure", "", objectstore.Azure},
		{"Azure as the peer spells it", "azure", objectstore.Azure},
	} {
		t.Run(test.name, func(t *testing.T) {
			service := test.start(t)
			bucket := service.Open(t)
			for directory, f := range map[string]fixture{"some/indexes/web-access": webAccess, "some/indexes/web-access-old": audit, "some/indexes-old/x": audit} {
				for _, id := range f.read(t).objects {
					content, err := os.ReadFile(filepath.Join("splitfile", "testdata", f.set, f.index, id+".split"))
					require.NoError(t, err)
					require.NoError(t, bucket.WriteAll(t.Context(), directory+"/"+id+".split", content, nil))
				}
			}
			for _, variable := range service.Environment {
				name, value, _ := strings.Cut(variable, "=")
				t.Setenv(name, value)
			}
			place, query, _ := strings.Cut(service.URL, "?")
			if test.scheme != "" {
				_, rest, _ := strings.Cut(place, "://")
				place = test.scheme + "://" + rest
			}
			root := place + "/some/indexes"

			t.Run("under a root", func(t *testing.T) {
				store := &counted{Store: memoryStore(t)}
				options := webAccess.options(t, store)
				options.Root = root + "?" + query
				planned, err := Plan(t.Context(), options)
				require.NoError(t, err)
				require.Len(t, planned.Indexes, 2, "web-access and what lies in web-access-old")
				require.EqualValues(t, len(webAccess.read(t).published), planned.Indexes[0].ToPublish)
				run(t, options)
				requireRebuilt(t, webAccess, store)
				changes := store.changes
				run(t, options)
				require.Equal(t, changes, store.changes, "the second run writes nothing")
			})
			t.Run("at the URI of the index", func(t *testing.T) {
				store := memoryStore(t)
				options := webAccess.options(t, store)
				config := *webAccess.config(t)
				config.IndexURI = root + "/web-access"
				if strings.HasPrefix(place, "azblob:") {
					config.IndexURI = strings.Replace(config.IndexURI, "azblob:", "azure:", 1) // the peer knows no other
				}
				_, err := store.CreateIndex(t.Context(), metastore.CreateIndexRequest{Config: &config})
				require.NoError(t, err)
				options.Root, options.IndexConfigs, options.StorageParameters = "", []*indexconfig.IndexConfig{}, query
				s := only(t, run(t, options))
				requireRebuilt(t, webAccess, store)
				require.NotContains(t, codes(s), CodeOtherLocation)
			})
			t.Run("of which there is none", func(t *testing.T) {
				options := webAccess.options(t, memoryStore(t))
				options.Root = ""
				options.IndexURIs = map[string]string{"web-access": place + "/nothing?" + query}
				planned, err := Plan(t.Context(), options)
				require.NoError(t, err)
				require.Contains(t, codes(only(t, planned)), CodeEmptyListing)
			})
		})
	}
}
