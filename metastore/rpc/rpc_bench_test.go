package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"holdfast/integration/loopback"
	"holdfast/metastore"
	"holdfast/metastore/rpc"
	"holdfast/proto/metastorepb"
)

func randomID() string { return ulid.Make().String() }

// overLoopback serves a store on a TCP port of its own and dials it.
func overLoopback(b *testing.B, store metastore.Store) *rpc.Client {
	b.Helper()
	client, err := rpc.Dial(loopback.Serve(b, store, rpc.ServerOptions{}), rpc.ClientOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Close() })
	return client
}

// overLoopbackRaw does it with a client that throws the rows away, and counts messages.
func overLoopbackRaw(b *testing.B, store metastore.Store) func(*testing.B) int {
	b.Helper()
	connection, err := grpc.NewClient(loopback.Serve(b, store, rpc.ServerOptions{}), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = connection.Close() })
	client := metastorepb.NewMetastoreServiceClient(connection)
	return func(b *testing.B) int {
		stream, err := client.ListSplits(b.Context(), &metastorepb.ListSplitsRequest{QueryJson: everySplit})
		for messages := 0; ; messages++ {
			if err == nil {
				_, err = stream.Recv()
			}
			if errors.Is(err, io.EOF) {
				return messages
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// realistic makes a split with a document of the usual size.
func realistic() metastore.SplitMetadata {
	split := split(randomID())
	split.NodeID = "indexer-0"
	split.NumDocs, split.UncompressedDocsSize, split.FooterEnd = 1_000_000, 1<<30, 1<<28
	split.CreateTimestamp = time.Now().Unix()
	split.TimeRange = metastore.Some(metastore.TimeRange{Start: split.CreateTimestamp - 60, End: split.CreateTimestamp})
	split.Tags = []string{"service:checkout", "service:search", "tenant:42"}
	return split
}

func BenchmarkListing(b *testing.B) {
	for _, rows := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			split := realistic()
			listed := metastore.SplitRow{State: metastore.Published, UpdateTimestamp: 1, Document: split.Document()}
			client := overLoopback(b, &scripted{listSplits: func(_ context.Context, _ *metastore.ListSplitsQuery, visit func(*metastore.SplitRow) error) error {
				for range rows {
					if err := visit(&listed); err != nil {
						return err
					}
				}
				return nil
			}})
			b.ReportAllocs()
			for b.Loop() {
				seen := 0
				if err := client.ListSplits(b.Context(), metastore.AllSplits(), func(*metastore.SplitRow) error { seen++; return nil }); err != nil || seen != rows {
					b.Fatalf("%d rows, %v", seen, err)
				}
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkListingServer leaves out what the client does with the rows.
func BenchmarkListingServer(b *testing.B) {
	const rows = 100_000
	split := realistic()
	listed := metastore.SplitRow{State: metastore.Published, UpdateTimestamp: 1, Document: split.Document()}
	raw := overLoopbackRaw(b, &scripted{listSplits: func(_ context.Context, _ *metastore.ListSplitsQuery, visit func(*metastore.SplitRow) error) error {
		for range rows {
			if err := visit(&listed); err != nil {
				return err
			}
		}
		return nil
	}})
	b.ReportAllocs()
	for b.Loop() {
		if messages := raw(b); messages != rows/100 {
			b.Fatalf("%d messages", messages)
		}
	}
	b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkStaging(b *testing.B) {
	for _, createOnly := range []bool{false, true} {
		for _, size := range []int{1, 100, 1_000} {
			b.Run(fmt.Sprintf("createOnly=%t/splits=%d", createOnly, size), func(b *testing.B) {
				store := memStore(b)
				uid := createIndex(b, store, "logs-a")
				client := overLoopback(b, store)
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						splits := make([]metastore.SplitMetadata, size)
						for i := range splits {
							splits[i] = realistic()
						}
						if _, err := client.StageSplits(b.Context(), metastore.StageSplitsRequest{IndexUID: uid, Splits: splits, CreateOnly: createOnly}); err != nil {
							b.Error(err)
							return
						}
					}
				})
				b.ReportMetric(float64(size)*float64(b.N)/b.Elapsed().Seconds(), "splits/s")
			})
		}
	}
}
