package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
	"holdfast/metastore/rpc"
)

// keyFlag is the flag --idempotency-key: the idempotency key of a command that changes something. Without
// the flag the command makes a key before it reads its input, so that a request that follows from the key is the
// same when the command is repeated with it.
type keyFlag struct {
	// key is the zero value as long as there is none.
	key idempotency.Key
	// given: a call with the key may have been executed.
	given bool
	// command is how to repeat the command. Empty means as it was.
	command string
	// told is what the server said about the answer.
	told rpc.Repetition
}

// String implements pflag.Value.
func (f *keyFlag) String() string {
	if !f.given {
		return ""
	}
	return f.key.String()
}

// Set implements pflag.Value.
func (f *keyFlag) Set(text string) error {
	key, err := idempotency.ParseKey(text)
	f.key, f.given = key, err == nil
	return err
}

// Type implements pflag.Value.
func (f *keyFlag) Type() string { return "key" }

func (f *keyFlag) add(cmd *cobra.Command) {
	cmd.Flags().Var(f, "idempotency-key", "the `KEY` that an error named, to finish a call whose outcome is unknown")
}

// begin makes a key unless one was given.
func (f *keyFlag) begin() error {
	if f.given {
		return nil
	}
	key, err := idempotency.NewKey()
	f.key = key
	return err
}

// docMappingUID is that of the one doc mapping in the request that has none.
func (f *keyFlag) docMappingUID() ulid.ULID {
	return f.key.ULID(idempotency.Anonymous, "doc mapping")
}

// call returns the context of the command's one call.
func (f *keyFlag) call(ctx context.Context) context.Context { return f.with(ctx, f.key) }

// step returns the context of one of several calls. The same step has the same key when the command is repeated.
func (f *keyFlag) step(ctx context.Context, name string) context.Context {
	// What is left of the time in which servers know a key must do for the call and for its repetition.
	if !f.given && time.Since(f.key.Time()) > idempotency.DefaultWindow().MintSlack {
		f.key = idempotency.Key{}
	}
	return f.with(ctx, f.key.Step(name))
}

func (f *keyFlag) with(ctx context.Context, key idempotency.Key) context.Context {
	f.told = rpc.Repetition{}
	ctx = rpc.WithRepetition(ctx, &f.told)
	switch {
	case f.given:
		return rpc.WithIdempotencyKey(ctx, key)
	case f.key == idempotency.Key{}:
		return ctx // the client makes one
	}
	return rpc.WithFreshIdempotencyKey(ctx, key)
}

// note is what people are told behind the result of the call.
func (f *keyFlag) note() string {
	switch {
	case f.told.ResourceGone:
		return " (executed by an earlier attempt; it does not exist any more)"
	case f.told.Replayed:
		return " (executed by an earlier attempt)"
	}
	return ""
}

// again says how to finish a call that failed with err; empty if the key cannot do it.
func (f *keyFlag) again(err error) string {
	var unknown *rpc.UnknownOutcomeError
	hasKey := errors.As(err, &unknown)
	if f.key == (idempotency.Key{}) || !hasKey && !f.given {
		return ""
	}
	command, before := f.command, ""
	if command == "" {
		command = "the command"
	}
	if hasKey {
		end := f.key.Time().Add(unknown.Lifetime)
		if end.Before(time.Now()) {
			return ""
		}
		before = " before " + end.UTC().Format("15:04:05 UTC")
	}
	return fmt.Sprintf("repeat %s with --idempotency-key %s%s: it finds out, and makes the change if it was not made", command, f.key, before)
}

// explainKey explains a refusal that is about the key. check is how to find out whether the change was made.
func (f *keyFlag) explainKey(refused *idempotency.Error, doing, check string) error {
	failed := fmt.Errorf("%s: %w", doing, refused)
	switch refused.Reason {
	case idempotency.KeyReused:
		return withHint(failed, "the key goes with the command that failed, on the same input and the same index; without --idempotency-key this is another call")
	case idempotency.KeyExpired:
		return withHint(failed, "%s; without --idempotency-key the command is another call", check)
	case idempotency.ResultGone:
		return withHint(failed, "an earlier attempt made the change, and another command deleted the result; without --idempotency-key this is another call")
	case idempotency.KeyFromFuture:
		return withHint(failed, "set the clock of this machine, or that of the server")
	case idempotency.KeyQuota:
		after := "a while"
		if refused.RetryAfter > 0 {
			after = refused.RetryAfter.Round(time.Second).String()
		}
		return withHint(failed, "try again in %s, or raise idempotency_max_keys of the server", after)
	}
	return failed
}

// indexUID finds the UID of the index. To finish a call on an index that is named by its UID the server is not
// asked for it: the index may be gone.
func (f *splitFlags) indexUID(ctx context.Context, client *rpc.Client) (metastore.IndexUID, error) {
	if f.key.given && strings.Contains(f.index, ":") {
		uid, err := metastore.ParseIndexUID(f.index)
		if err != nil {
			return uid, usagef("--index: %w", err)
		}
		return uid, nil
	}
	index, err := f.lookUp(ctx, client, f.index)
	if err != nil {
		return metastore.IndexUID{}, err
	}
	return index.IndexUID, nil
}
