package rpc_test

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/rpc"
	"holdfast/proto/commonpb"
	"holdfast/proto/metastorepb"
)

// testTimeout ends a test that hangs; no test comes near it.
const testTimeout = time.Minute

// scripted is a store that answers what a test says. A method that the test does not expect panics.
type scripted struct {
	metastore.Store
	createIndex   func(context.Context, metastore.CreateIndexRequest) (*metastore.IndexMetadata, error)
	indexMetadata func(context.Context, metastore.IndexLookup) (*metastore.IndexMetadata, error)
	listIndexes   func(context.Context, *indexconfig.IndexIDPatterns) ([]*metastore.IndexMetadata, error)
	deleteIndex   func(context.Context, metastore.IndexUID) error
	stageSplits   func(context.Context, metastore.StageSplitsRequest) (metastore.StageSplitsResult, error)
	publishSplits func(context.Context, metastore.PublishSplitsRequest) error
	listSplits    func(context.Context, *metastore.ListSplitsQuery, func(*metastore.SplitRow) error) error
	identity      func(context.Context) (string, error)
	connectivity  func(context.Context) error
}

func (s *scripted) CreateIndex(ctx context.Context, request metastore.CreateIndexRequest) (*metastore.IndexMetadata, error) {
	return s.createIndex(ctx, request)
}

func (s *scripted) IndexMetadata(ctx context.Context, lookup metastore.IndexLookup) (*metastore.IndexMetadata, error) {
	return s.indexMetadata(ctx, lookup)
}

func (s *scripted) ListIndexesMetadata(ctx context.Context, patterns *indexconfig.IndexIDPatterns) ([]*metastore.IndexMetadata, error) {
	return s.listIndexes(ctx, patterns)
}

func (s *scripted) DeleteIndex(ctx context.Context, uid metastore.IndexUID) error {
	return s.deleteIndex(ctx, uid)
}

func (s *scripted) StageSplits(ctx context.Context, request metastore.StageSplitsRequest) (metastore.StageSplitsResult, error) {
	return s.stageSplits(ctx, request)
}

func (s *scripted) PublishSplits(ctx context.Context, request metastore.PublishSplitsRequest) error {
	return s.publishSplits(ctx, request)
}

func (s *scripted) ListSplits(ctx context.Context, query *metastore.ListSplitsQuery, visit func(*metastore.SplitRow) error) error {
	return s.listSplits(ctx, query, visit)
}

func (s *scripted) ClusterIdentity(ctx context.Context) (string, error) { return s.identity(ctx) }

func (s *scripted) CheckConnectivity(ctx context.Context) error { return s.connectivity(ctx) }

// bundle is a running server and what tests reach it with.
type bundle struct {
	*testing.T
	ctx      context.Context
	server   *rpc.Server
	listener *bufconn.Listener
	// raw is a connection without the client's interceptors.
	raw       *grpc.ClientConn
	metastore metastorepb.MetastoreServiceClient
}

func serve(t *testing.T, store metastore.Store, options rpc.ServerOptions) *bundle {
	t.Helper()
	server, err := rpc.NewServer(store, options)
	if err != nil {
		t.Fatalf("new server: %v", err)
	}
	b := newBundle(t, bufconn.Listen(1<<20))
	b.server = server
	served := make(chan error, 1)
	go func() { served <- server.Serve(b.listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		if err := server.Drain(ctx); err != nil {
			t.Errorf("drain: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	b.connect()
	return b
}

func newBundle(t *testing.T, listener *bufconn.Listener) *bundle {
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	t.Cleanup(cancel)
	return &bundle{T: t, ctx: ctx, listener: listener}
}

func (b *bundle) connect() {
	b.Helper()
	connection, err := grpc.NewClient("passthrough:///bufconn", grpc.WithTransportCredentials(insecure.NewCredentials()), b.dialer())
	if err != nil {
		b.Fatalf("connect: %v", err)
	}
	b.Cleanup(func() { _ = connection.Close() })
	b.raw = connection
	b.metastore = metastorepb.NewMetastoreServiceClient(connection)
}

func (b *bundle) dialer() grpc.DialOption {
	return grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return b.listener.DialContext(ctx) })
}

// client dials a Client of the server.
func (b *bundle) client(options rpc.ClientOptions) *rpc.Client {
	b.Helper()
	options.DialOptions = append(options.DialOptions, b.dialer())
	if options.RetryDelay == 0 {
		options.RetryDelay = time.Millisecond
	}
	client, err := rpc.Dial("passthrough:///bufconn", options)
	if err != nil {
		b.Fatalf("dial: %v", err)
	}
	b.Cleanup(func() { _ = client.Close() })
	return client
}

// answer is how a raw call failed.
type answer struct {
	*status.Status
	trailer metadata.MD
}

// detail is the content of qw-error-bin, empty if there is none.
func (a answer) detail() string {
	if values := a.trailer.Get("qw-error-bin"); len(values) > 0 {
		return values[0]
	}
	return ""
}

// failing runs a raw call that must fail.
func failing[Request, Response any](b *bundle, call func(context.Context, Request, ...grpc.CallOption) (Response, error), request Request) answer {
	b.Helper()
	var trailer metadata.MD
	_, err := call(b.ctx, request, grpc.Trailer(&trailer))
	if err == nil {
		b.Fatalf("the call succeeded, it must fail")
	}
	return answer{Status: status.Convert(err), trailer: trailer}
}

var anyUID = metastore.IndexUID{IndexID: "logs-a", Incarnation: ulid.ULID{1: 1, 15: 7}}

func uidMessage(uid metastore.IndexUID) *commonpb.IndexUid {
	return &commonpb.IndexUid{IndexId: uid.IndexID, IncarnationId: uid.Incarnation.Bytes()}
}

// row makes a listed split of a given id.
func row(id string) metastore.SplitRow {
	split := split(id)
	return metastore.SplitRow{State: metastore.Staged, UpdateTimestamp: 1, Document: split.Document()}
}

func split(id string) metastore.SplitMetadata {
	return metastore.SplitMetadata{SplitID: id, IndexUID: anyUID, SourceID: "source", NodeID: "node", NumDocs: 1, FooterStart: 1, FooterEnd: 2}
}

// recordedLog is a slog handler that keeps records.
type recordedLog struct {
	records chan slog.Record
}

func newRecordedLog() *recordedLog { return &recordedLog{records: make(chan slog.Record, 1000)} }

func (l *recordedLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *recordedLog) Handle(_ context.Context, record slog.Record) error {
	l.records <- record
	return nil
}
func (l *recordedLog) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *recordedLog) WithGroup(string) slog.Handler      { return l }

// next waits for the next record of this message and returns its attributes.
func (l *recordedLog) next(b *bundle, message string) map[string]slog.Value {
	b.Helper()
	for {
		select {
		case record := <-l.records:
			if record.Message != message {
				continue
			}
			attributes := map[string]slog.Value{"level": slog.StringValue(record.Level.String())}
			record.Attrs(func(a slog.Attr) bool { attributes[a.Key] = a.Value; return true })
			return attributes
		case <-b.ctx.Done():
			b.Fatalf("no log record %q", message)
		}
	}
}
