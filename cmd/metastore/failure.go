package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"holdfast/metastore"
	"holdfast/metastore/idempotency"
	"holdfast/metastore/rpc"
)

var errInterrupted = errors.New("interrupted by a signal")

// usageError is a failure of the caller's: a flag, an argument or a setting is wrong.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// hinted is a failure that knows what to do next.
type hinted struct {
	error
	hint string
}

func (e *hinted) Unwrap() error { return e.error }

func withHint(err error, format string, args ...any) error {
	return &hinted{err, fmt.Sprintf(format, args...)}
}

// printFailure writes what failed, and in a second line what to do next.
func (c *command) printFailure(err error, usage bool, path string) {
	text := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
	hint := ""
	var known *hinted
	switch {
	case errors.As(err, &known):
		hint = known.hint
	case usage:
		hint = fmt.Sprintf("`%s --help` explains the command", path)
	}
	// If stderr is gone there is nobody to tell.
	_, _ = fmt.Fprintln(c.stderr, "error: "+text)
	if hint != "" {
		_, _ = fmt.Fprintln(c.stderr, "hint:  "+hint)
	}
}

// explain adds what was being done and what to do next to the failure of a read.
func (f *clientFlags) explain(ctx context.Context, err error, doing string) error {
	if err == nil {
		return nil
	}
	if reason, dialing := dialFailure(err); dialing {
		return withHint(fmt.Errorf("%s: the server at %s cannot be reached: %s", doing, f.server, reason),
			"is `metastore serve` running there? Name another server with --server HOST:PORT or HOLDFAST_SERVER")
	}
	failed := fmt.Errorf("%s: %w", doing, err)
	if context.Cause(ctx) == errInterrupted {
		return fmt.Errorf("%s: %w", doing, errInterrupted)
	}
	switch {
	case errors.Is(err, metastore.ErrUnavailable):
		return withHint(failed, "the server at %s, or the storage behind it, is not available now; try again in a while", f.server)
	case errors.Is(err, &metastore.Error{Kind: metastore.KindTimeout}):
		return withHint(failed, "the server at %s did not answer in %s; --timeout allows more", f.server, f.timeout)
	case errors.Is(err, metastore.NotFound(metastore.Entity{})) && isAbout(err, metastore.EntityIndex):
		return withHint(failed, "`metastore index list` shows the indexes of %s", f.server)
	case errors.Is(err, metastore.ErrTooManyRequests):
		return withHint(failed, "the server is busy; try again in a while")
	}
	return failed
}

// explainChange does it for a call that changes something: its outcome may be unknown. check is how
// to find out.
func (f *clientFlags) explainChange(ctx context.Context, err error, doing, check string) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, rpc.ErrCreateOnlyUnsupported) {
		return withHint(fmt.Errorf("%s: %w", doing, rpc.ErrCreateOnlyUnsupported), "the server at %s wrote nothing", f.server)
	}
	var unknown *rpc.UnknownOutcomeError
	if errors.As(err, &unknown) {
		return f.explainUnknown(ctx, err, doing, check)
	}
	var refused *idempotency.Error
	if errors.As(err, &refused) {
		return f.key.explainKey(refused, doing, check)
	}
	if errors.Is(err, rpc.ErrKeysNotHonoured) {
		return withHint(fmt.Errorf("%s: %w", doing, err), "%s", check)
	}
	if _, dialing := dialFailure(err); dialing {
		return f.explain(ctx, err, doing)
	}
	if typed := metastore.AsError(err); !typed.Kind.CertainlyAborted() {
		return f.explainUnknown(ctx, err, doing, check)
	}
	return f.explain(ctx, err, doing)
}

// explainUnknown explains a failure that leaves the outcome unknown. The key of the call finds out, if it had one.
func (f *clientFlags) explainUnknown(ctx context.Context, err error, doing, check string) error {
	if again := f.key.again(err); again != "" {
		check = again
	}
	var refused *idempotency.Error
	switch {
	case context.Cause(ctx) == errInterrupted:
		err = errInterrupted
	case errors.As(err, &refused) && refused.Reason == idempotency.KeyFromFuture:
		check = "set the clock of this machine, or that of the server; then " + check
	case errors.As(err, &refused) && refused.Reason == idempotency.KeyInFlight:
		return withHint(fmt.Errorf("%s: a call with its idempotency key is still under way: the outcome is unknown", doing), "when that call has ended, %s", check)
	}
	return withHint(fmt.Errorf("%s: %w: the outcome is unknown, the change may or may not have been made", doing, err), "%s", check)
}

// dialFailure reports whether no connection to a server could be made, and why. Nothing was sent then.
func dialFailure(err error) (reason string, dialing bool) {
	if !errors.Is(err, metastore.ErrUnavailable) {
		return "", false
	}
	_, reason, dialing = strings.Cut(err.Error(), "Error while dialing: ")
	return strings.Trim(reason, `"`), dialing
}

func isAbout(err error, kind metastore.EntityKind) bool {
	var typed *metastore.Error
	return errors.As(err, &typed) && typed.Entity.Kind == kind
}
