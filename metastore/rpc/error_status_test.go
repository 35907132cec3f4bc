package rpc_test

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"holdfast/metastore"
	"holdfast/metastore/rpc"
	"holdfast/proto/metastorepb"
)

func TestEveryKindOfErrorTravelsWithItsCodeAndItsJSON(t *testing.T) {
	t.Parallel()
	index := metastore.IndexEntity("logs-a")
	cases := []struct {
		err    *metastore.Error
		code   codes.Code
		detail string
	}{
		{metastore.AlreadyExists(index), 6, `{"AlreadyExists":{"index":{"index_id":"logs-a"}}}`},
		{&metastore.Error{Kind: metastore.KindConnection, Message: "m"}, 13, `{"Connection":{"message":"m"}}`},
		{&metastore.Error{Kind: metastore.KindDb, Message: "m"}, 13, `{"Db":{"message":"m"}}`},
		{metastore.FailedPrecondition(metastore.SplitsEntity([]string{"s1"}), "m"), 3, `{"FailedPrecondition":{"entity":{"splits":{"split_ids":["s1"]}},"message":"m"}}`},
		{metastore.Forbidden(nil, "m"), 7, `{"Forbidden":{"message":"m"}}`},
		{&metastore.Error{Kind: metastore.KindInternal, Message: "m", Cause: "c"}, 13, `{"Internal":{"message":"m","cause":"c"}}`},
		{metastore.InvalidArgument("m"), 3, `{"InvalidArgument":{"message":"m"}}`},
		{&metastore.Error{Kind: metastore.KindInvalidPublishToken, QueueID: "q"}, 3, `{"InvalidPublishToken":{"queue_id":"q"}}`},
		{&metastore.Error{Kind: metastore.KindIo, Message: "m"}, 13, `{"Io":{"message":"m"}}`},
		{&metastore.Error{Kind: metastore.KindJSONDeserializeError, StructName: "t", Message: "m"}, 13, `{"JsonDeserializeError":{"struct_name":"t","message":"m"}}`},
		{&metastore.Error{Kind: metastore.KindJSONSerializeError, StructName: "t", Message: "m"}, 13, `{"JsonSerializeError":{"struct_name":"t","message":"m"}}`},
		{metastore.NotFound(metastore.SourceEntity("logs-a", "src")), 5, `{"NotFound":{"source":{"index_id":"logs-a","source_id":"src"}}}`},
		{metastore.NotFound(metastore.SplitsEntity([]string{"s", "t"})), 5, `{"NotFound":{"splits":{"split_ids":["s","t"]}}}`},
		{metastore.NotFound(metastore.Entity{Kind: metastore.EntitySplit, SplitIDs: []string{"s"}}), 5, `{"NotFound":{"split":{"split_id":"s"}}}`},
		{metastore.NotFound(metastore.Entity{Kind: metastore.EntityIndexes, IndexIDs: []string{"i", "j"}}), 5, `{"NotFound":{"indexes":{"index_ids":["i","j"]}}}`},
		{metastore.NotFound(metastore.Entity{Kind: metastore.EntityShard, QueueID: "q"}), 5, `{"NotFound":{"shard":{"queue_id":"q"}}}`},
		{metastore.NotFound(metastore.Entity{Kind: metastore.EntityIndexTemplate, TemplateID: "t"}), 5, `{"NotFound":{"index_template":{"template_id":"t"}}}`},
		{metastore.NotFound(metastore.Entity{Kind: metastore.EntityCheckpointDelta, IndexID: "i", SourceID: "s"}), 5, `{"NotFound":{"checkpoint_delta":{"index_id":"i","source_id":"s"}}}`},
		{metastore.Timeout(nil, "m"), 4, `{"Timeout":"m"}`},
		{metastore.ErrTooManyRequests, 8, `"TooManyRequests"`},
		{metastore.Unavailable(nil, "m"), 14, `{"Unavailable":"m"}`},
	}
	for _, c := range cases {
		t.Run(c.detail, func(t *testing.T) {
			t.Parallel()
			b := serve(t, &scripted{deleteIndex: func(context.Context, metastore.IndexUID) error { return c.err }}, rpc.ServerOptions{})

			got := failing(b, b.metastore.DeleteIndex, &metastorepb.DeleteIndexRequest{IndexUid: uidMessage(anyUID)})
			if got.Code() != c.code {
				t.Errorf("code %d, want %d", got.Code(), c.code)
			}
			if got.detail() != c.detail {
				t.Errorf("qw-error-bin %s, want %s", got.detail(), c.detail)
			}
			if got.Message() != c.err.Error() {
				t.Errorf("message %q, want %q", got.Message(), c.err.Error())
			}

			err := b.client(rpc.ClientOptions{}).DeleteIndex(b.ctx, anyUID)
			if !reflect.DeepEqual(err, c.err) {
				t.Errorf("the client returned %#v, want %#v", err, c.err)
			}
		})
	}
}

func TestAnErrorOfAStreamTravelsInItsTrailer(t *testing.T) {
	t.Parallel()
	b := serve(t, &scripted{listSplits: func(_ context.Context, _ *metastore.ListSplitsQuery, visit func(*metastore.SplitRow) error) error {
		for range 150 {
			r := row("s")
			if err := visit(&r); err != nil {
				return err
			}
		}
		return metastore.Internal(nil, "lost the row")
	}}, rpc.ServerOptions{})

	visited := 0
	err := b.client(rpc.ClientOptions{}).ListSplits(b.ctx, metastore.AllSplits(), func(*metastore.SplitRow) error { visited++; return nil })

	var typed *metastore.Error
	if !errors.As(err, &typed) || typed.Kind != metastore.KindInternal || typed.Message != "lost the row" {
		t.Errorf("error %v, want the store's", err)
	}
	if visited != 100 {
		t.Errorf("visited %d rows, want the 100 of the full message, once", visited)
	}
}

func TestTheTextOfAnUnknownErrorStaysInTheLog(t *testing.T) {
	t.Parallel()
	log := newRecordedLog()
	b := serve(t, &scripted{deleteIndex: func(context.Context, metastore.IndexUID) error {
		return errors.New("connect postgres://user:hunter2@db: refused")
	}}, rpc.ServerOptions{Logger: slog.New(log)})

	got := failing(b, b.metastore.DeleteIndex, &metastorepb.DeleteIndexRequest{IndexUid: uidMessage(anyUID)})

	if got.Code() != codes.Internal || !strings.HasPrefix(got.detail(), `{"Internal":{"message":"unexpected failure`) {
		t.Errorf("code %s, detail %s, want Internal", got.Code(), got.detail())
	}
	if strings.Contains(got.Message()+got.detail(), "hunter2") {
		t.Errorf("the secret left the server: %s %s", got.Message(), got.detail())
	}
	line := log.next(b, "call")
	if id := line["request_id"].String(); !strings.Contains(got.Message(), id) || !strings.Contains(line["error"].String(), "refused") {
		t.Errorf("message %q and log %v must share the request id, and the log must have the cause", got.Message(), line)
	}
}

func TestTheTimeLimitOfACallGivesTimeout(t *testing.T) {
	t.Parallel()
	for name, wrap := range map[string]func(error) error{
		"returned as it is":   func(err error) error { return err },
		"wrapped as Internal": func(err error) error { return metastore.Internal(err, "read row") },
		"told as Timeout":     func(err error) error { return metastore.Timeout(err, "read row") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := serve(t, &scripted{indexMetadata: func(ctx context.Context, _ metastore.IndexLookup) (*metastore.IndexMetadata, error) {
				<-ctx.Done()
				return nil, wrap(ctx.Err())
			}}, rpc.ServerOptions{RequestTimeout: 1})

			got := failing(b, b.metastore.IndexMetadata, &metastorepb.IndexMetadataRequest{})

			if got.Code() != codes.DeadlineExceeded || !strings.HasPrefix(got.detail(), `{"Timeout":`) {
				t.Errorf("code %s, detail %s, want Timeout", got.Code(), got.detail())
			}
		})
	}
}

func TestAnErrorKindThatThePeerDoesNotKnowBecomesInternal(t *testing.T) {
	t.Parallel()
	b := serve(t, &scripted{deleteIndex: func(context.Context, metastore.IndexUID) error {
		return &metastore.Error{Kind: "Novel", Message: "m"}
	}}, rpc.ServerOptions{})

	got := failing(b, b.metastore.DeleteIndex, &metastorepb.DeleteIndexRequest{IndexUid: uidMessage(anyUID)})

	if want := `{"Internal":{"message":"m","cause":""}}`; got.Code() != codes.Internal || got.detail() != want {
		t.Errorf("code %s, detail %s, want Internal with %s", got.Code(), got.detail(), want)
	}
}
