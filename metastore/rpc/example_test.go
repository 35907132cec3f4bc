package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os/signal"
	"syscall"
	"time"

	"holdfast/metastore"
	"holdfast/metastore/file"
	"holdfast/metastore/rpc"
)

// Serve a store until the process is told to stop, then finish the calls under way.
func ExampleServer() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	store, err := file.Open(ctx, file.Options{URL: "./data"})
	if err != nil {
		log.Fatal(err)
	}
	server, err := rpc.NewServer(store, rpc.ServerOptions{Version: "v1.0.0"})
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:7281")
	if err != nil {
		log.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	server.MarkServing()

	<-ctx.Done()
	drainCtx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := errors.Join(server.Drain(drainCtx), <-served, store.Close()); err != nil {
		log.Fatal(err)
	}
}

// Count the published splits of all indexes. Rows are visited while they arrive.
func ExampleClient_ListSplits() {
	client, err := rpc.Dial("127.0.0.1:7281", rpc.ClientOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = client.Close() }()

	query := metastore.AllSplits()
	query.States = []metastore.SplitState{metastore.Published}
	published := 0
	err = client.ListSplits(context.Background(), query, func(*metastore.SplitRow) error {
		published++
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(published)
}

// Stage what is missing and leave alone what is there.
func ExampleClient_StageSplits() {
	client, err := rpc.Dial("127.0.0.1:7281", rpc.ClientOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	ctx := context.Background()
	index, err := client.IndexMetadata(ctx, metastore.IndexLookup{IndexID: metastore.Some("logs-a")})
	if err != nil {
		log.Fatal(err)
	}
	found, err := metastore.ParseSplitMetadataList([]byte(`[]`)) // what was found in the bucket
	if err != nil {
		log.Fatal(err)
	}

	result, err := client.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: index.IndexUID, Splits: found, CreateOnly: true})
	switch {
	case errors.Is(err, rpc.ErrCreateOnlyUnsupported):
		log.Fatal("upgrade the server first: ", err)
	case errors.Is(err, metastore.ErrNotFound):
		log.Fatal("the index was deleted meanwhile: ", err)
	case err != nil:
		log.Fatal(err)
	}
	fmt.Println("staged", result.Staged)
	for _, skipped := range result.Skipped {
		fmt.Println("left alone", skipped.SplitID, skipped.State)
	}
}
