package rpc_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"holdfast/metastore"
	"holdfast/metastore/rpc"
	"holdfast/proto/commonpb"
	"holdfast/proto/metastorepb"
)

func TestAMissingOrMalformedIndexUIDOfADeleteTaskCallIsNamed(t *testing.T) {
	t.Parallel()
	b := serve(t, &scripted{}, rpc.ServerOptions{}) // a call that reached the store would panic
	short := &commonpb.IndexUid{IndexId: "logs-a", IncarnationId: make([]byte, 15)}
	for name, requests := range map[string][2]proto.Message{
		"CreateDeleteTask":          {&metastorepb.DeleteQuery{QueryAst: "{}"}, &metastorepb.DeleteQuery{IndexUid: short}},
		"LastDeleteOpstamp":         {&metastorepb.LastDeleteOpstampRequest{}, &metastorepb.LastDeleteOpstampRequest{IndexUid: short}},
		"ListDeleteTasks":           {&metastorepb.ListDeleteTasksRequest{}, &metastorepb.ListDeleteTasksRequest{IndexUid: short}},
		"ListStaleSplits":           {&metastorepb.ListStaleSplitsRequest{}, &metastorepb.ListStaleSplitsRequest{IndexUid: short}},
		"UpdateSplitsDeleteOpstamp": {&metastorepb.UpdateSplitsDeleteOpstampRequest{}, &metastorepb.UpdateSplitsDeleteOpstampRequest{IndexUid: short}},
	} {
		for i, want := range []string{"index_uid is missing", "index_uid.incarnation_id has 15 bytes, must have 16"} {
			got := b.invoke(t, method(name), requests[i])
			if detail := `{"InvalidArgument":{"message":"` + want + `"}}`; got.Code() != codes.InvalidArgument || got.detail() != detail {
				t.Errorf("%s: code %s, detail %s, want InvalidArgument with %s", name, got.Code(), got.detail(), detail)
			}
		}
	}
}

func TestATaskWithoutBoundsComesBackWithoutThem(t *testing.T) {
	t.Parallel()
	store := memStore(t)
	b := serve(t, store, rpc.ServerOptions{})
	uid := uidMessage(createIndex(t, store, "logs-a"))
	zero := int64(0)
	for _, query := range []*metastorepb.DeleteQuery{{IndexUid: uid}, {IndexUid: uid, StartTimestamp: &zero, EndTimestamp: &zero, QueryAst: "x"}} {
		task, err := b.metastore.CreateDeleteTask(b.ctx, query)
		if err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(task.GetDeleteQuery(), query) {
			t.Errorf("the task echoes %v, want %v", task.GetDeleteQuery(), query)
		}
	}
}

// manyRows is a store with as many stale splits as are asked for.
type manyRows struct {
	scripted
	visited uint64
}

func (s *manyRows) ListStaleSplits(_ context.Context, query metastore.StaleSplitsQuery, visit func(*metastore.SplitRow) error) error {
	r := row("a-split")
	for s.visited = 0; s.visited < query.Limit; s.visited++ {
		if err := visit(&r); err != nil {
			return err
		}
	}
	return nil
}

func TestStaleSplitsThatDoNotFitAMessageAreRefusedAsSoonAsThatIsKnown(t *testing.T) {
	t.Parallel()
	store := &manyRows{}
	b := serve(t, store, rpc.ServerOptions{MaxMessageSize: rpc.MinMaxMessageSize})
	split := row("a-split")
	size := len(split.AppendJSON(nil)) + len(",")
	most := uint64((rpc.MinMaxMessageSize - 16) / size)
	response, err := b.metastore.ListStaleSplits(b.ctx, &metastorepb.ListStaleSplitsRequest{IndexUid: uidMessage(anyUID), NumSplits: most})
	if err != nil || strings.Count(response.GetSplitsSerializedJson(), "split_id") != int(most) {
		t.Fatalf("%d splits: %v", most, err)
	}
	got := failing(b, b.metastore.ListStaleSplits, &metastorepb.ListStaleSplitsRequest{IndexUid: uidMessage(anyUID), NumSplits: 1 << 63})
	if got.Code() != codes.InvalidArgument || !strings.Contains(got.Message(), "num_splits is 9223372036854775808") {
		t.Errorf("code %s, message %s", got.Code(), got.Message())
	}
	if store.visited > most {
		t.Errorf("%d splits were read, though %d are too many", store.visited, most+1)
	}
}

func TestNoStaleSplitsAreAnEmptyArray(t *testing.T) {
	t.Parallel()
	b := serve(t, &manyRows{}, rpc.ServerOptions{})
	response, err := b.metastore.ListStaleSplits(b.ctx, &metastorepb.ListStaleSplitsRequest{IndexUid: uidMessage(anyUID)})
	if err != nil || response.GetSplitsSerializedJson() != "[]" {
		t.Errorf("got %q, error %v", response.GetSplitsSerializedJson(), err)
	}
}

func TestTasksThatDoNotFitAMessageAreRefused(t *testing.T) {
	t.Parallel()
	store := memStore(t)
	b := serve(t, store, rpc.ServerOptions{MaxMessageSize: rpc.MinMaxMessageSize})
	uid := createIndex(t, store, "logs-a")
	for range 2 {
		if _, err := store.CreateDeleteTask(t.Context(), metastore.DeleteQuery{IndexUID: uid, QueryAST: strings.Repeat("x", 600_000)}); err != nil {
			t.Fatal(err)
		}
	}
	got := failing(b, b.metastore.ListDeleteTasks, &metastorepb.ListDeleteTasksRequest{IndexUid: uidMessage(uid)})
	if got.Code() != codes.InvalidArgument || !strings.Contains(got.Message(), "opstamp_start") {
		t.Errorf("code %s, message %s", got.Code(), got.Message())
	}
	response, err := b.metastore.ListDeleteTasks(b.ctx, &metastorepb.ListDeleteTasksRequest{IndexUid: uidMessage(uid), OpstampStart: 1})
	if err != nil || len(response.GetDeleteTasks()) != 1 {
		t.Errorf("above the first: %d tasks, error %v", len(response.GetDeleteTasks()), err)
	}
}

// inPieces is a store that changes splits in pieces until it is stopped. Each piece waits for the test.
type inPieces struct {
	scripted
	begun   chan context.Context // of each piece
	proceed chan struct{}
	ended   chan error
}

func (s *inPieces) MarkSplitsForDeletion(ctx context.Context, _ metastore.IndexUID, _ []string) error {
	return s.run(ctx)
}

func (s *inPieces) DeleteSplits(ctx context.Context, _ metastore.IndexUID, _ []string) error {
	return s.run(ctx)
}

func (s *inPieces) UpdateSplitsDeleteOpstamp(ctx context.Context, _ metastore.IndexUID, _ []string, _ uint64) error {
	return s.run(ctx)
}

func (s *inPieces) MarkParquetSplitsForDeletion(ctx context.Context, _ metastore.ParquetKind, _ metastore.IndexUID, _ []string) error {
	return s.run(ctx)
}

func (s *inPieces) DeleteParquetSplits(ctx context.Context, _ metastore.ParquetKind, _ metastore.IndexUID, _ []string) error {
	return s.run(ctx)
}

func (s *inPieces) run(ctx context.Context) error {
	for {
		piece, end := metastore.BeginPiece(ctx)
		if err := piece.Err(); err != nil { // the call was stopped before the piece began
			s.ended <- err
			return err
		}
		s.begun <- piece
		<-s.proceed
		if piece.Err() != nil {
			s.ended <- errors.New("the piece was cut off")
		}
		end()
	}
}

func TestALargeCallStopsBetweenPiecesWhenItsCallerGoesAway(t *testing.T) {
	t.Parallel()
	uid := uidMessage(anyUID)
	for name, request := range map[string]proto.Message{
		"MarkSplitsForDeletion":        &metastorepb.MarkSplitsForDeletionRequest{IndexUid: uid},
		"DeleteSplits":                 &metastorepb.DeleteSplitsRequest{IndexUid: uid},
		"UpdateSplitsDeleteOpstamp":    &metastorepb.UpdateSplitsDeleteOpstampRequest{IndexUid: uid},
		"MarkMetricsSplitsForDeletion": &metastorepb.MarkMetricsSplitsForDeletionRequest{IndexUid: uid},
		"DeleteMetricsSplits":          &metastorepb.DeleteMetricsSplitsRequest{IndexUid: uid},
		"MarkSketchSplitsForDeletion":  &metastorepb.MarkSketchSplitsForDeletionRequest{IndexUid: uid},
		"DeleteSketchSplits":           &metastorepb.DeleteSketchSplitsRequest{IndexUid: uid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkThatPiecesStop(t, name, request)
		})
	}
}

func checkThatPiecesStop(t *testing.T, name string, request proto.Message) {
	store := &inPieces{begun: make(chan context.Context), proceed: make(chan struct{}), ended: make(chan error, 1)}
	b := serve(t, store, rpc.ServerOptions{})
	caller, leave := context.WithCancel(b.ctx)
	answered := make(chan error, 1)
	go func() { answered <- b.raw.Invoke(caller, method(name), request, &metastorepb.EmptyResponse{}) }()
	<-store.begun
	store.proceed <- struct{}{}
	piece := <-store.begun
	if _, bounded := piece.Deadline(); !bounded {
		t.Error("a piece has no time limit")
	}
	leave()
	if err := <-answered; status.Code(err) != codes.Canceled {
		t.Errorf("the caller got %v", err)
	}
	// The server learns of it while the piece goes on. Another piece may have begun before it does.
	for {
		store.proceed <- struct{}{}
		select {
		case <-store.begun:
			continue
		case err := <-store.ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the call ended with %v", err)
			}
			return
		}
	}
}
