package rpc_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"google.golang.org/grpc/metadata"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/rpc"
)

// intercepted is a client of the server whose attempts pass through an interceptor.
func (b *bundle) intercepted(interceptor grpc.UnaryClientInterceptor) *rpc.Client {
	return b.client(rpc.ClientOptions{DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(interceptor)}})
}

func TestOnlyCallsWithoutASecondEffectAreRepeated(t *testing.T) {
	t.Parallel()
	const attempts = 3
	cases := []struct {
		name string
		call func(context.Context, *rpc.Client) error
		want int32
	}{
		{"index metadata", func(ctx context.Context, c *rpc.Client) error {
			_, err := c.IndexMetadata(ctx, metastore.IndexLookup{})
			return err
		}, attempts},
		{"list splits", func(ctx context.Context, c *rpc.Client) error {
			return c.ListSplits(ctx, metastore.AllSplits(), func(*metastore.SplitRow) error { return nil })
		}, attempts},
		{"create-only staging", func(ctx context.Context, c *rpc.Client) error {
			_, err := c.StageSplits(ctx, createOnly(anyUID))
			return err
		}, attempts},
		{"upsert staging", func(ctx context.Context, c *rpc.Client) error {
			_, err := c.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: anyUID})
			return err
		}, 1},
		{"publish", func(ctx context.Context, c *rpc.Client) error {
			return c.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: anyUID})
		}, 1},
		{"create index", func(ctx context.Context, c *rpc.Client) error {
			_, err := c.CreateIndex(ctx, metastore.CreateIndexRequest{Config: indexConfig(t, "logs-a")})
			return err
		}, 1},
		{"delete index", func(ctx context.Context, c *rpc.Client) error { return c.DeleteIndex(ctx, anyUID) }, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			lost := func() error { calls.Add(1); return metastore.Unavailable(nil, "try again") }
			b := serve(t, &scripted{
				indexMetadata: func(context.Context, metastore.IndexLookup) (*metastore.IndexMetadata, error) { return nil, lost() },
				createIndex: func(context.Context, metastore.CreateIndexRequest) (*metastore.IndexMetadata, error) {
					return nil, lost()
				},
				deleteIndex: func(context.Context, metastore.IndexUID) error { return lost() },
				stageSplits: func(context.Context, metastore.StageSplitsRequest) (metastore.StageSplitsResult, error) {
					return metastore.StageSplitsResult{}, lost()
				},
				publishSplits: func(context.Context, metastore.PublishSplitsRequest) error { return lost() },
				listSplits: func(context.Context, *metastore.ListSplitsQuery, func(*metastore.SplitRow) error) error {
					return lost()
				},
			}, rpc.ServerOptions{})

			err := c.call(b.ctx, b.client(rpc.ClientOptions{RetryAttempts: attempts}))

			if !errors.Is(err, metastore.ErrUnavailable) {
				t.Errorf("error %v, want the server's", err)
			}
			if calls.Load() != c.want {
				t.Errorf("%d calls, want %d", calls.Load(), c.want)
			}
		})
	}
}

func TestARepeatedCallThatSucceedsIsASuccess(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	b := serve(t, &scripted{
		identity: func(context.Context) (string, error) {
			if calls.Add(1) < 3 {
				return "", metastore.Internal(nil, "not yet")
			}
			return "id", nil
		},
		listSplits: func(_ context.Context, _ *metastore.ListSplitsQuery, visit func(*metastore.SplitRow) error) error {
			if calls.Add(1) < 6 {
				return metastore.Internal(nil, "not yet")
			}
			r := row("s")
			return visit(&r)
		},
	}, rpc.ServerOptions{})
	client := b.client(rpc.ClientOptions{RetryAttempts: 3})

	if id, err := client.ClusterIdentity(b.ctx); id != "id" || err != nil {
		t.Errorf("identity %q, %v, want success", id, err)
	}
	rows := 0
	if err := client.ListSplits(b.ctx, metastore.AllSplits(), func(*metastore.SplitRow) error { rows++; return nil }); err != nil || rows != 1 {
		t.Errorf("list: %d rows, %v, want one row", rows, err)
	}
}

func TestAnErrorThatARepetitionCannotHealIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, sent := range []*metastore.Error{
		metastore.NotFound(metastore.IndexEntity("logs-a")), metastore.InvalidArgument("no"), metastore.ErrTooManyRequests,
		{Kind: metastore.KindJSONDeserializeError, StructName: "t", Message: "m"},
	} {
		t.Run(string(sent.Kind), func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			b := serve(t, &scripted{identity: func(context.Context) (string, error) { calls.Add(1); return "", sent }}, rpc.ServerOptions{})

			_, err := b.client(rpc.ClientOptions{}).ClusterIdentity(b.ctx)

			if !errors.Is(err, sent) || calls.Load() != 1 {
				t.Errorf("%d calls, error %v, want one call and the server's error", calls.Load(), err)
			}
		})
	}
}

func TestARequestOverTheMessageLimitIsRefusedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]bool{"upsert": false, "create-only": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := serve(t, &scripted{}, rpc.ServerOptions{})
			client := b.client(rpc.ClientOptions{MaxMessageSize: rpc.MinMaxMessageSize})

			_, err := client.StageSplits(b.ctx, metastore.StageSplitsRequest{
				IndexUID: anyUID, CreateOnly: mode, Splits: []metastore.SplitMetadata{split(strings.Repeat("x", rpc.MinMaxMessageSize))},
			})

			if !errors.Is(err, metastore.ErrInvalidArgument) || !strings.Contains(err.Error(), "several calls") {
				t.Errorf("error %v, want InvalidArgument that says what to do", err)
			}
		})
	}
}

func TestARequestWithTextThatIsNotUTF8IsNotSent(t *testing.T) {
	t.Parallel()
	const bad = "caf\xe9"
	for name, test := range map[string]struct {
		call  func(context.Context, *rpc.Client) error
		field string
	}{
		"a text": {field: "query_ast", call: func(ctx context.Context, c *rpc.Client) error {
			_, err := c.CreateDeleteTask(ctx, metastore.DeleteQuery{IndexUID: anyUID, QueryAST: bad})
			return err
		}},
		"an element": {field: "split_ids[1]", call: func(ctx context.Context, c *rpc.Client) error {
			return c.MarkSplitsForDeletion(ctx, anyUID, []string{"a", bad, bad})
		}},
		"within an element": {field: "subrequests[1].source_id", call: func(ctx context.Context, c *rpc.Client) error {
			_, err := c.OpenShards(ctx, []metastore.OpenShardSubrequest{{IndexUID: anyUID, SourceID: "a", ShardID: "1"}, {IndexUID: anyUID, SourceID: bad, ShardID: "1"}})
			return err
		}},
		"a message": {field: "index_uid.index_id", call: func(ctx context.Context, c *rpc.Client) error {
			return c.DeleteIndex(ctx, metastore.IndexUID{IndexID: bad})
		}},
		"with a key that was used": {field: "source_id", call: func(ctx context.Context, c *rpc.Client) error {
			return c.DeleteSource(rpc.WithIdempotencyKey(ctx, newKey(t)), anyUID, bad)
		}},
		"a read": {field: "index_id", call: func(ctx context.Context, c *rpc.Client) error {
			_, err := c.IndexMetadata(ctx, metastore.IndexLookup{IndexID: metastore.Some(bad)})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, memStore(t), rpc.ServerOptions{}).client(rpc.ClientOptions{})

			err := test.call(t.Context(), client)

			if want := "the request was not sent: " + test.field + " is not valid UTF-8"; !errors.Is(err, metastore.ErrInvalidArgument) || !strings.Contains(err.Error(), want) {
				t.Fatalf("error %v, want InvalidArgument with %q", err, want)
			}
			if unknown := new(rpc.UnknownOutcomeError); errors.As(err, &unknown) {
				t.Error("the outcome is told as unknown")
			}
		})
	}
}

func TestAMutationOverTheMessageLimitHasAKnownOutcome(t *testing.T) {
	t.Parallel()
	ids := []string{strings.Repeat("x", rpc.MinMaxMessageSize)}
	query := metastore.DeleteQuery{IndexUID: anyUID, QueryAST: ids[0]}
	for name, call := range map[string]func(context.Context, *rpc.Client) error{
		"publish": func(ctx context.Context, c *rpc.Client) error {
			return c.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: anyUID, StagedSplitIDs: ids})
		},
		"mark": func(ctx context.Context, c *rpc.Client) error { return c.MarkSplitsForDeletion(ctx, anyUID, ids) },
		"create delete task": func(ctx context.Context, c *rpc.Client) error {
			_, err := c.CreateDeleteTask(ctx, query)
			return err
		},
		"publish with a key that was used": func(ctx context.Context, c *rpc.Client) error {
			return c.PublishSplits(rpc.WithIdempotencyKey(ctx, newKey(t)), metastore.PublishSplitsRequest{IndexUID: anyUID, StagedSplitIDs: ids})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := serve(t, memStore(t), rpc.ServerOptions{})
			var sent atomic.Int32
			interceptor := func(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
				sent.Add(1)
				return invoke(ctx, method, request, reply, connection, options...)
			}
			client := b.client(rpc.ClientOptions{MaxMessageSize: rpc.MinMaxMessageSize, DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(interceptor)}})

			err := call(b.ctx, client)

			if !errors.Is(err, metastore.ErrInvalidArgument) || !strings.Contains(err.Error(), "was not sent") || sent.Load() != 0 {
				t.Errorf("%d calls, error %v; want none, and InvalidArgument", sent.Load(), err)
			}
			if errors.As(err, new(*rpc.UnknownOutcomeError)) || !metastore.AsError(err).Kind.CertainlyAborted() {
				t.Errorf("error %v leaves the outcome unknown", err)
			}
		})
	}
}

func TestAFailureWithoutDetailIsReadFromItsCode(t *testing.T) {
	t.Parallel()
	cases := map[codes.Code]metastore.ErrorKind{
		codes.Canceled: metastore.KindTimeout, codes.DeadlineExceeded: metastore.KindTimeout, codes.Unavailable: metastore.KindUnavailable,
		codes.NotFound: metastore.KindInternal, codes.AlreadyExists: metastore.KindInternal, codes.ResourceExhausted: metastore.KindInternal,
		codes.InvalidArgument: metastore.KindInternal, codes.Unimplemented: metastore.KindInternal, codes.Internal: metastore.KindInternal, codes.Unknown: metastore.KindInternal,
	}
	for code, want := range cases {
		t.Run(code.String(), func(t *testing.T) {
			t.Parallel()
			p := &program{t: t, service: oldService(t)}
			p.unary = func(context.Context, protoreflect.MethodDescriptor, *dynamicpb.Message) (*dynamicpb.Message, metadata.MD, error) {
				return nil, nil, status.Error(code, "said the server")
			}

			err := p.start().client(rpc.ClientOptions{}).DeleteIndex(t.Context(), anyUID)

			var typed *metastore.Error
			if !errors.As(err, &typed) || typed.Kind != want || !strings.Contains(err.Error(), "said the server") {
				t.Errorf("error %v, want %s with the server's text", err, want)
			}
			if code == codes.Unimplemented && !strings.Contains(err.Error(), "does not implement") {
				t.Errorf("error %v must say that the server does not implement the call", err)
			}
		})
	}
}

func TestADetailThatCannotBeReadBecomesInternal(t *testing.T) {
	t.Parallel()
	for _, detail := range []string{"", "{", `{"Novel":{"message":"m"}}`, `{"Db":{}}`} {
		p := &program{t: t, service: oldService(t)}
		p.unary = func(context.Context, protoreflect.MethodDescriptor, *dynamicpb.Message) (*dynamicpb.Message, metadata.MD, error) {
			return nil, metadata.Pairs("qw-error-bin", detail), status.Error(codes.NotFound, "said the server")
		}
		err := p.start().client(rpc.ClientOptions{}).DeleteIndex(t.Context(), anyUID)
		var typed *metastore.Error
		if !errors.As(err, &typed) || typed.Kind != metastore.KindInternal || !strings.Contains(err.Error(), "version") {
			t.Errorf("detail %q: error %v, want Internal that hints at versions", detail, err)
		}
	}
}

func TestTheEndOfTheCallersContextIsTold(t *testing.T) {
	t.Parallel()
	b := serve(t, &scripted{deleteIndex: func(ctx context.Context, _ metastore.IndexUID) error { <-ctx.Done(); return ctx.Err() }},
		rpc.ServerOptions{RequestTimeout: time.Second})
	ctx, cancel := context.WithTimeout(b.ctx, time.Millisecond)
	defer cancel()

	err := b.client(rpc.ClientOptions{}).DeleteIndex(ctx, anyUID)

	var typed *metastore.Error
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &typed) || typed.Kind != metastore.KindTimeout {
		t.Errorf("error %v, want Timeout that is context.DeadlineExceeded", err)
	}
}

func TestACallOfTheClientIsBoundedByItsOwnTimeout(t *testing.T) {
	t.Parallel()
	b := serve(t, &scripted{deleteIndex: func(ctx context.Context, _ metastore.IndexUID) error { <-ctx.Done(); return ctx.Err() }},
		rpc.ServerOptions{RequestTimeout: time.Second})

	err := b.client(rpc.ClientOptions{CallTimeout: time.Millisecond}).DeleteIndex(b.ctx, anyUID)

	var typed *metastore.Error
	if !errors.As(err, &typed) || typed.Kind != metastore.KindTimeout {
		t.Errorf("error %v, want Timeout", err)
	}
}

func TestPatternsCrossTheWireUnchanged(t *testing.T) {
	t.Parallel()
	patterns, err := indexconfig.ParseIndexIDPatterns([]string{"web-*", "-*-test", "audit"})
	if err != nil {
		t.Fatalf("parse patterns: %v", err)
	}
	received := make(chan *indexconfig.IndexIDPatterns, 1)
	b := serve(t, &scripted{listIndexes: func(_ context.Context, p *indexconfig.IndexIDPatterns) ([]*metastore.IndexMetadata, error) {
		received <- p
		return nil, nil
	}}, rpc.ServerOptions{})

	indexes, err := b.client(rpc.ClientOptions{}).ListIndexesMetadata(b.ctx, patterns)

	if err != nil || len(indexes) != 0 {
		t.Errorf("list: %v, %v, want no index", indexes, err)
	}
	got := <-received
	if strings.Join(got.Positive(), " ") != "web-* audit" || strings.Join(got.Negative(), " ") != "*-test" {
		t.Errorf("positive %q, negative %q, want what was asked", got.Positive(), got.Negative())
	}
}
