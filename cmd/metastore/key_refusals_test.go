package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"holdfast/integration/loopback"
	"holdfast/metastore"
	"holdfast/metastore/file"
	"holdfast/metastore/idempotency"
	"holdfast/metastore/rpc"
)

// interruptedStore has its calls with keys pass through before, whose error they fail with.
type interruptedStore struct {
	idempotency.Store
	before func(operation string) error
}

func (s interruptedStore) WithRecord(record idempotency.Record) metastore.Store {
	return interruptedCall{s.Store.WithRecord(record), func() error { return s.before(record.Operation) }}
}

type interruptedCall struct {
	metastore.Store
	before func() error
}

func (c interruptedCall) StageSplits(ctx context.Context, request metastore.StageSplitsRequest) (metastore.StageSplitsResult, error) {
	if err := c.before(); err != nil {
		return metastore.StageSplitsResult{}, err
	}
	return c.Store.StageSplits(ctx, request)
}

func (c interruptedCall) PublishSplits(ctx context.Context, request metastore.PublishSplitsRequest) error {
	if err := c.before(); err != nil {
		return err
	}
	return c.Store.PublishSplits(ctx, request)
}

// serveInterrupted serves a store with the index web-access.
func serveInterrupted(t *testing.T, before func(operation string) error) *server {
	t.Helper()
	store, err := file.Open(t.Context(), file.Options{URL: "mem://"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	// A second call with a key is refused at once, not after it has waited for the first.
	s := &server{grpc: loopback.Serve(t, interruptedStore{store, before}, rpc.ServerOptions{Idempotency: rpc.IdempotencyOptions{KeyWait: time.Nanosecond}})}
	s.ok(t, "index", "create", "--config", "testdata/inputs/web-access.index-config.json")
	return s
}

// keyedCommands are commands on the index web-access, in an order in which they succeed.
func keyedCommands() []struct {
	operation, doing, check, done string
	args                          []string
} {
	const check = "`metastore split list --index web-access` shows the states"
	return []struct {
		operation, doing, check, done string
		args                          []string
	}{
		{"StageSplits", "stage splits for index", check, "21 splits staged", []string{"split", "stage", "--index", "web-access", webAccessRows}},
		{"PublishSplits", "publish splits of index", check, "2 splits published", []string{"split", "publish", "--index", "web-access", firstSplit, secondSplit}},
	}
}

// withFreshKey is a command with a key of now.
func withFreshKey(t *testing.T, args []string) (again []string, key string) {
	t.Helper()
	fresh, err := idempotency.NewKey()
	require.NoError(t, err)
	return append(append([]string(nil), args...), "--idempotency-key", fresh.String()), fresh.String()
}

func TestACommandWhoseKeyIsInFlightSaysWhatToRepeat(t *testing.T) {
	t.Parallel()
	for _, c := range keyedCommands() {
		t.Run(c.operation, func(t *testing.T) {
			t.Parallel()
			entered, release := make(chan struct{}, 1), make(chan struct{})
			s := serveInterrupted(t, func(operation string) error {
				if operation == c.operation {
					entered <- struct{}{}
					<-release
				}
				return nil
			})
			if c.operation == "PublishSplits" {
				s.ok(t, keyedCommands()[0].args...)
			}
			again, key := withFreshKey(t, c.args)
			first := make(chan result, 1)
			go func() { first <- execute(t, &system{environ: []string{"HOLDFAST_SERVER=" + s.grpc}}, again...) }()
			<-entered

			r := s.run(t, again...)

			require.Equal(t, exitFailure, r.status)
			require.Empty(t, r.stdout)
			require.Equal(t, "error: "+c.doing+" \"web-access\": a call with its idempotency key is still under way: the outcome is unknown\n"+
				"hint:  when that call has ended, repeat the command with --idempotency-key "+key+" before HH:MM:SS UTC: it finds out, and makes the change if it was not made\n",
				timeText.ReplaceAllString(withoutBatch(r.stderr), "HH:MM:SS UTC"))

			close(release)
			executed := <-first
			require.Equal(t, exitSuccess, executed.status, executed.stderr)
			require.NotContains(t, executed.stdout, "earlier")
			done := s.ok(t, again...)
			require.Contains(t, done, c.done)
			require.Contains(t, done, "(executed by an earlier attempt)")
		})
	}
}

// withoutBatch leaves out which part of the input an error of split stage is about.
func withoutBatch(stderr string) string {
	return strings.ReplaceAll(stderr, ", at splits 1 to 21 of the input", "")
}

func TestACommandWhoseResultIsGoneSaysThatItWasExecuted(t *testing.T) {
	t.Parallel()
	s := serveInterrupted(t, func(string) error {
		return &idempotency.Error{Reason: idempotency.ResultGone, Message: "the call was executed, and its splits do not exist any more; nothing was changed now"}
	})
	for _, c := range keyedCommands() {
		again, _ := withFreshKey(t, c.args)
		r := s.run(t, again...)
		require.Equal(t, exitFailure, r.status)
		require.Empty(t, r.stdout)
		require.Equal(t, "error: "+c.doing+" \"web-access\": the call was executed, and its splits do not exist any more; nothing was changed now\n"+
			"hint:  an earlier attempt made the change, and another command deleted the result; without --idempotency-key this is another call\n", withoutBatch(r.stderr))
	}
}

func TestACommandWhoseKeyHasExpiredSaysHowToFindOut(t *testing.T) {
	t.Parallel()
	s := serveInterrupted(t, func(string) error { return nil })
	for _, c := range keyedCommands() {
		r := s.run(t, append(c.args, "--idempotency-key", keyAt(time.Now().Add(-time.Hour)))...)
		require.Equal(t, exitFailure, r.status)
		require.Empty(t, r.stdout)
		require.Contains(t, r.stderr, "error: "+c.doing+` "web-access": the idempotency key is 1h0m0s old and no longer remembered`)
		require.Contains(t, r.stderr, "hint:  "+c.check)
		require.Contains(t, r.stderr, "; without --idempotency-key the command is another call\n")
		require.Equal(t, 2, strings.Count(r.stderr, "\n"), r.stderr)
	}
	require.NotContains(t, s.ok(t, "split", "list", "--index", "web-access"), firstSplit, "nothing was staged")
}
