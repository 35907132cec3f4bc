package readonly_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/file"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/readonly"
)

// reads are the methods of a store that change nothing. Every other one must be refused, also one that is
// added to the interface later.
var reads = []string{
	"CheckConnectivity", "Close", "ClusterIdentity", "DeleteOpstampFloor", "FindIndexTemplateMatches", "IndexMetadata", "IndexTemplate", "IndexesMetadata",
	"LastDeleteOpstamp", "ListDeleteTasks", "ListIndexStats", "ListIndexTemplates", "ListIndexesMetadata", "ListParquetSplits", "ListShards",
	"ListSplits", "ListStaleSplits",
}

func TestEveryMethodThatMayChangeSomethingIsForbidden(t *testing.T) {
	t.Parallel()
	store := reflect.ValueOf(readonly.New(nil)) // what is not refused panics
	methods := reflect.TypeFor[metastore.Store]()
	for i := range methods.NumMethod() {
		method := methods.Method(i)
		if slices.Contains(reads, method.Name) {
			continue
		}
		t.Run(method.Name, func(t *testing.T) {
			defer func() {
				if recover() != nil {
					t.Error("the call reaches the wrapped store; refuse it, or name it among the reads")
				}
			}()
			arguments := []reflect.Value{reflect.ValueOf(context.Background())}
			for n := 1; n < method.Type.NumIn(); n++ {
				arguments = append(arguments, reflect.Zero(method.Type.In(n)))
			}
			results := store.MethodByName(method.Name).Call(arguments)
			err, _ := results[len(results)-1].Interface().(error)
			if !errors.Is(err, metastore.ErrForbidden) {
				t.Errorf("error %v, want Forbidden", err)
			}
			for _, result := range results[:len(results)-1] {
				if !result.IsZero() {
					t.Errorf("result %v beside the error", result)
				}
			}
		})
	}
}

func TestReadsAnswerFromTheWrappedStore(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	wrapped, err := file.Open(ctx, file.Options{URL: "mem://"})
	if err != nil {
		t.Fatal(err)
	}
	config, err := indexconfig.ParseIndexConfig([]byte(`{"version":"0.9","index_id":"logs","index_uri":"s3://b/logs","doc_mapping":{}}`), ulid.Make)
	if err != nil {
		t.Fatal(err)
	}
	created, err := wrapped.CreateIndex(ctx, metastore.CreateIndexRequest{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	identity, err := wrapped.ClusterIdentity(ctx)
	if err != nil {
		t.Fatal(err)
	}

	store := readonly.New(wrapped)
	found, err := store.IndexMetadata(ctx, metastore.IndexLookup{IndexID: metastore.Some("logs")})
	if err != nil || found.IndexUID != created.IndexUID {
		t.Errorf("index metadata %v, %v", found, err)
	}
	if got, err := store.ClusterIdentity(ctx); err != nil || got != identity {
		t.Errorf("identity %q, %v, want %q", got, err, identity)
	}
	if err := store.CheckConnectivity(ctx); err != nil {
		t.Error(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}
