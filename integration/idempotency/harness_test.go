package idempotency

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"holdfast/integration/loopback"
	"holdfast/integration/pgtest"
	"holdfast/metastore"
	"holdfast/metastore/file"
	"holdfast/metastore/idempotency"
	"holdfast/metastore/postgres"
	"holdfast/metastore/rpc"
	"holdfast/proto/commonpb"
	"holdfast/proto/metastorepb"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// ready is a database with the schema.
var ready = pgtest.Template{Fill: func(ctx context.Context, dsn string) error {
	_, err := postgres.Migrate(ctx, dsn, postgres.MigrateOptions{})
	return err
}}

// place is where stores are. It is empty at first.
type place struct {
	// open opens it, as often as one likes.
	open func(t *testing.T) metastore.Store
	// records returns the idempotency records as text; nil where they are not to be seen.
	records func(t *testing.T) []string
}

// backend makes places.
type backend struct {
	name string
	// records is set if every success leaves a record, also one that changed nothing, and keys are found whatever
	// the call is about.
	records bool
	scope   idempotency.Scope
	place   func(t *testing.T) place
}

func backends() []backend {
	return []backend{
		{name: "file store", scope: idempotency.ScopeObject, place: func(t *testing.T) place {
			url := filepath.Join(t.TempDir(), "store")
			return place{open: func(t *testing.T) metastore.Store {
				store, err := file.Open(t.Context(), file.Options{URL: url})
				return opened(t, store, err)
			}}
		}},
		{name: "PostgreSQL", records: true, scope: idempotency.ScopeGlobal, place: func(t *testing.T) place {
			dsn := ready.Database(t)
			return place{open: func(t *testing.T) metastore.Store {
				store, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn, MaxConns: 8})
				return opened(t, store, err)
			}, records: func(t *testing.T) []string { return recordsIn(t, dsn) }}
		}},
	}
}

func opened(t *testing.T, store metastore.Store, err error) metastore.Store {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return store
}

// recordsIn returns the records in a database, each as text.
func recordsIn(t *testing.T, dsn string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	rows, err := conn.Query(t.Context(), "SELECT records::text FROM holdfast.idempotency_records AS records")
	if err != nil {
		t.Fatal(err)
	}
	records, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// bundle is what a case works with.
type bundle struct {
	*testing.T
	backend backend
	place
	store    metastore.Store
	client   metastorepb.MetastoreServiceClient
	address  string
	registry *prometheus.Registry
	log      *syncBuffer
}

type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func newBundle(t *testing.T, backend backend, options rpc.IdempotencyOptions) *bundle {
	b := &bundle{T: t, backend: backend, place: backend.place(t), registry: prometheus.NewRegistry(), log: &syncBuffer{}}
	b.store = b.open(t)
	b.address, b.client = b.serve(b.store, options)
	return b
}

// serve runs a server on a store, and returns a client that sends what it is given and repeats nothing.
func (b *bundle) serve(store metastore.Store, options rpc.IdempotencyOptions) (string, metastorepb.MetastoreServiceClient) {
	b.Helper()
	address := loopback.Serve(b.T, store, rpc.ServerOptions{
		Logger: slog.New(slog.NewTextHandler(b.log, nil)), Registerer: b.registry, Idempotency: options,
	})
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = connection.Close() })
	return address, metastorepb.NewMetastoreServiceClient(connection)
}

// another is a further server on the same place, with its own store.
func (b *bundle) another(options rpc.IdempotencyOptions) metastorepb.MetastoreServiceClient {
	b.Helper()
	registry := b.registry
	b.registry = prometheus.NewRegistry()
	defer func() { b.registry = registry }()
	_, client := b.serve(b.open(b.T), options)
	return client
}

// wantRecords checks the number of records, where they are to be seen.
func (b *bundle) wantRecords(want int) {
	b.Helper()
	if b.records == nil {
		return
	}
	if records := b.records(b.T); len(records) != want {
		b.Fatalf("records %q, want %d", records, want)
	}
}

// newKey makes a key of now.
func (b *bundle) newKey() string {
	b.Helper()
	key, err := idempotency.NewKey()
	if err != nil {
		b.Fatal(err)
	}
	return key.String()
}

// keyAged makes a key of that age.
func keyAged(age time.Duration) string {
	key := idempotency.FirstKeyAt(time.Now().Add(-age))
	key[6] |= 0x70
	key[8] = 0x80
	key[15] = byte(time.Now().UnixNano())
	return key.String()
}

// told is what the header of an answer says.
type told struct {
	replayed bool
	state    string
}

// call makes a call with the keys that are given.
func call[Q, R any](b *bundle, do func(context.Context, Q, ...grpc.CallOption) (R, error), request Q, keys ...string) (R, told, error) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	for _, key := range keys {
		ctx = metadata.AppendToOutgoingContext(ctx, "idempotency-key", key)
	}
	var header metadata.MD
	response, err := do(ctx, request, grpc.Header(&header))
	return response, told{
		replayed: strings.Join(header.Get("idempotency-replayed"), ",") == "true",
		state:    strings.Join(header.Get("idempotency-resource-state"), ","),
	}, err
}

// must makes a call that must succeed for the first time.
func must[Q, R any](b *bundle, do func(context.Context, Q, ...grpc.CallOption) (R, error), request Q, keys ...string) R {
	b.Helper()
	response, told, err := call(b, do, request, keys...)
	if err != nil || told.replayed {
		b.Fatalf("%T: %v, replayed %v; want a first success", request, err, told.replayed)
	}
	return response
}

// replay makes a call that must be answered as a repetition.
func replay[Q, R any](b *bundle, do func(context.Context, Q, ...grpc.CallOption) (R, error), request Q, state, key string) R {
	b.Helper()
	response, told, err := call(b, do, request, key)
	if err != nil || !told.replayed || told.state != state {
		b.Fatalf("%T: %v, replayed %v, state %q; want a repetition with state %q", request, err, told.replayed, told.state, state)
	}
	return response
}

func wantEqual(b *bundle, got, want proto.Message) {
	b.Helper()
	if !proto.Equal(got, want) {
		b.Fatalf("got %v\nwant %v", got, want)
	}
}

// The requests of the cases.

const indexID = "logs"

func createIndex(id string) *metastorepb.CreateIndexRequest {
	return &metastorepb.CreateIndexRequest{IndexConfigJson: fmt.Sprintf(`{"version":"0.9","index_id":%q,"index_uri":"s3://bucket/%s",`+
		`"doc_mapping":{"field_mappings":[{"name":"at","type":"datetime","fast":true}],"timestamp_field":"at"}}`, id, id)}
}

// index creates the index of a case, without a key.
func (b *bundle) index(sources ...string) *commonpb.IndexUid {
	b.Helper()
	request := createIndex(indexID)
	for _, id := range sources {
		request.SourceConfigsJson = append(request.SourceConfigsJson, sourceConfig(id))
	}
	return must(b, b.client.CreateIndex, request).GetIndexUid()
}

func sourceConfig(id string) string {
	kind := `"void","params":null`
	if id == "_ingest-source" {
		kind = `"ingest"`
	}
	return fmt.Sprintf(`{"version":"0.9","source_id":%q,"source_type":%s}`, id, kind)
}

func addSource(uid *commonpb.IndexUid, id string) *metastorepb.AddSourceRequest {
	return &metastorepb.AddSourceRequest{IndexUid: uid, SourceConfigJson: sourceConfig(id)}
}

func splitDocument(id string) string {
	return fmt.Sprintf(`{"version":"0.9","split_id":%q,"index_uid":"logs:00000000000000000000000000","partition_id":0,"source_id":"source","node_id":"node",`+
		`"num_docs":1,"uncompressed_docs_size_in_bytes":1,"time_range":null,"create_timestamp":1,"maturity":{"type":"mature"},"tags":[],`+
		`"footer_offsets":{"start":1,"end":2},"delete_opstamp":0,"num_merge_ops":0,"doc_mapping_uid":"00000000000000000000000000"}`, id)
}

func stageSplits(uid *commonpb.IndexUid, ids ...string) *metastorepb.StageSplitsRequest {
	documents := make([]string, len(ids))
	for i, id := range ids {
		documents[i] = splitDocument(id)
	}
	return &metastorepb.StageSplitsRequest{IndexUid: uid, SplitMetadataListSerializedJson: "[" + strings.Join(documents, ",") + "]"}
}

func publishSplits(uid *commonpb.IndexUid, ids ...string) *metastorepb.PublishSplitsRequest {
	return &metastorepb.PublishSplitsRequest{IndexUid: uid, StagedSplitIds: ids}
}

func deleteTask(uid *commonpb.IndexUid) *metastorepb.DeleteQuery {
	return &metastorepb.DeleteQuery{IndexUid: uid, QueryAst: `{"type":"match_all"}`}
}

// published makes a split published.
func (b *bundle) published(uid *commonpb.IndexUid, id string) {
	b.Helper()
	must(b, b.client.StageSplits, stageSplits(uid, id))
	must(b, b.client.PublishSplits, publishSplits(uid, id))
}

// states returns "id=State" of the splits, sorted by id.
func (b *bundle) states() string {
	b.Helper()
	query := metastore.AllSplits()
	query.SortBy = metastore.SortByIndexUID
	var states []string
	err := b.store.ListSplits(b.Context(), query, func(row *metastore.SplitRow) error {
		split, err := row.Split()
		states = append(states, split.Metadata.SplitID+"="+split.State.String())
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return strings.Join(states, " ")
}

func (b *bundle) wantStates(want string) {
	b.Helper()
	if got := b.states(); got != want {
		b.Fatalf("splits %q, want %q", got, want)
	}
}

// metadataOf returns the metadata of the index, nil if there is none.
func (b *bundle) metadataOf(id string) *metastore.IndexMetadata {
	b.Helper()
	index, err := b.store.IndexMetadata(b.Context(), metastore.IndexLookup{IndexID: metastore.Some(id)})
	if errors.Is(err, metastore.ErrNotFound) {
		return nil
	}
	if err != nil {
		b.Fatal(err)
	}
	return index
}

// numTasks counts the delete tasks of the index.
func (b *bundle) numTasks(uid *commonpb.IndexUid) int {
	b.Helper()
	return len(must(b, b.client.ListDeleteTasks, &metastorepb.ListDeleteTasksRequest{IndexUid: uid}).GetDeleteTasks())
}

// invoke is any method of the service, with an empty request.
func (b *bundle) invoke(name string) func(context.Context, *metastorepb.EmptyResponse, ...grpc.CallOption) (*metastorepb.EmptyResponse, error) {
	return func(ctx context.Context, request *metastorepb.EmptyResponse, options ...grpc.CallOption) (*metastorepb.EmptyResponse, error) {
		connection, err := grpc.NewClient(b.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return nil, err
		}
		defer func() { _ = connection.Close() }()
		response := &metastorepb.EmptyResponse{}
		return response, connection.Invoke(ctx, "/quickwit.metastore.MetastoreService/"+name, request, response, options...)
	}
}
