package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"holdfast/metastore"
	"holdfast/metastore/rpc"
	"holdfast/proto/metastorepb"
)

const everySplit = `{"split_states":[],"time_range":{"start":"Unbounded","end":"Unbounded"},` +
	`"delete_opstamp":{"start":"Unbounded","end":"Unbounded"},"update_timestamp":{"start":"Unbounded","end":"Unbounded"},` +
	`"create_timestamp":{"start":"Unbounded","end":"Unbounded"},"mature":"Unbounded","sort_by":"None"}`

// listing is a store that lists n rows; each id has at least size characters.
func listing(n, size int) *scripted {
	return &scripted{listSplits: func(_ context.Context, _ *metastore.ListSplitsQuery, visit func(*metastore.SplitRow) error) error {
		for i := range n {
			r := row(listedID(i, size))
			if err := visit(&r); err != nil {
				return err
			}
		}
		return nil
	}}
}

func listedID(i, size int) string { return fmt.Sprintf("%0*d", max(size, 6), i) }

// messages returns what a raw listing received.
func (b *bundle) messages() (arrays []string, err error) {
	b.Helper()
	stream, err := b.metastore.ListSplits(b.ctx, &metastorepb.ListSplitsRequest{QueryJson: everySplit})
	if err != nil {
		b.Fatalf("open stream: %v", err)
	}
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return arrays, nil
		}
		if err != nil {
			return arrays, err
		}
		arrays = append(arrays, message.GetSplitsSerializedJson())
	}
}

func TestAListingHasAHundredSplitsInEveryMessageButTheLast(t *testing.T) {
	t.Parallel()
	cases := []struct {
		rows int
		want []int
	}{{0, nil}, {1, []int{1}}, {99, []int{99}}, {100, []int{100}}, {101, []int{100, 1}}, {300, []int{100, 100, 100}}, {1234, append(slices.Repeat([]int{100}, 12), 34)}}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.rows), func(t *testing.T) {
			t.Parallel()
			arrays, err := serve(t, listing(c.rows, 0), rpc.ServerOptions{}).messages()
			if err != nil {
				t.Fatalf("list: %v", err)
			}
			var counts []int
			var ids []string
			for _, array := range arrays {
				var splits []struct {
					SplitID string `json:"split_id"`
				}
				if err := json.Unmarshal([]byte(array), &splits); err != nil {
					t.Fatalf("message %q: %v", array, err)
				}
				counts = append(counts, len(splits))
				for _, split := range splits {
					ids = append(ids, split.SplitID)
				}
			}
			if !slices.Equal(counts, c.want) {
				t.Errorf("messages of %v splits, want %v", counts, c.want)
			}
			for i, id := range ids {
				if id != listedID(i, 0) {
					t.Fatalf("split %d is %q, want %q", i, id, listedID(i, 0))
				}
			}
		})
	}
}

func TestAMessageOfAListingIsTheRowsSplicedIntoAnArray(t *testing.T) {
	t.Parallel()
	arrays, err := serve(t, listing(2, 0), rpc.ServerOptions{}).messages()
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	first, second := row(listedID(0, 0)), row(listedID(1, 0))
	want := "[" + string(first.AppendJSON(nil)) + "," + string(second.AppendJSON(nil)) + "]"
	if len(arrays) != 1 || arrays[0] != want {
		t.Errorf("messages %q, want %q", arrays, want)
	}
}

func TestAMessageOfAListingIsSentEarlyRatherThanPassTheLimit(t *testing.T) {
	t.Parallel()
	const rowSize = 30_000 // 33 of them fit into a message of 1 MB
	b := serve(t, listing(70, rowSize), rpc.ServerOptions{MaxMessageSize: rpc.MinMaxMessageSize})

	arrays, err := b.messages()
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	total := 0
	for i, array := range arrays {
		var splits []json.RawMessage
		if err := json.Unmarshal([]byte(array), &splits); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
		total += len(splits)
		if len(array) > rpc.MinMaxMessageSize || i < len(arrays)-1 && len(array) < rpc.MinMaxMessageSize-2*rowSize {
			t.Errorf("message %d of %d has %d bytes, want just below the limit", i, len(arrays), len(array))
		}
	}
	if total != 70 {
		t.Errorf("%d splits arrived, want 70", total)
	}
}

func TestASplitThatFitsIntoNoMessageFailsTheListing(t *testing.T) {
	t.Parallel()
	for name, position := range map[string]int{"first": 0, "after another": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &scripted{listSplits: func(_ context.Context, _ *metastore.ListSplitsQuery, visit func(*metastore.SplitRow) error) error {
				for i := range 2 {
					size := 10
					if i == position {
						size = rpc.MinMaxMessageSize
					}
					r := row(listedID(i, size))
					if err := visit(&r); err != nil {
						return err
					}
				}
				return nil
			}}
			_, err := serve(t, store, rpc.ServerOptions{MaxMessageSize: rpc.MinMaxMessageSize}).messages()
			if status.Code(err) != codes.Internal || !strings.Contains(err.Error(), "limit") {
				t.Errorf("error %v, want Internal about the limit", err)
			}
		})
	}
}

func TestAClientThatDoesNotReadEndsItsListing(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	store := &scripted{listSplits: func(_ context.Context, _ *metastore.ListSplitsQuery, visit func(*metastore.SplitRow) error) error {
		r := row(listedID(1, 1_000))
		for {
			if err := visit(&r); err != nil {
				ended <- err
				return err
			}
		}
	}}
	b := serve(t, store, rpc.ServerOptions{StallTimeout: 50 * time.Millisecond})

	stream, err := b.metastore.ListSplits(b.ctx, &metastorepb.ListSplitsRequest{QueryJson: everySplit})
	if err != nil {
		t.Fatalf("open stream: %v", err)
	}
	select {
	case err := <-ended:
		var typed *metastore.Error
		if !errors.As(err, &typed) || typed.Kind != metastore.KindTimeout {
			t.Errorf("the store saw %v, want Timeout", err)
		}
	case <-b.ctx.Done():
		t.Fatal("the listing did not end")
	}
	for err == nil {
		_, err = stream.Recv()
	}
	if status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("the client saw %v, want DeadlineExceeded", err)
	}
}

func TestAListingStopsWhenTheClientLeaves(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	store := &scripted{listSplits: func(ctx context.Context, _ *metastore.ListSplitsQuery, visit func(*metastore.SplitRow) error) error {
		defer close(ended)
		r := row("s")
		for {
			if err := visit(&r); err != nil {
				return err
			}
		}
	}}
	b := serve(t, store, rpc.ServerOptions{})
	stop := errors.New("enough")

	err := b.client(rpc.ClientOptions{}).ListSplits(b.ctx, metastore.AllSplits(), func(*metastore.SplitRow) error { return stop })

	if err != stop {
		t.Errorf("error %v, want the visitor's own", err)
	}
	select {
	case <-ended:
	case <-b.ctx.Done():
		t.Error("the listing went on")
	}
}
