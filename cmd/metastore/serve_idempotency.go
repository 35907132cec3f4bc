package main

import (
	"time"

	"github.com/spf13/pflag"

	"holdfast/cmd/metastore/internal/openstore"
	"holdfast/metastore/idempotency"
	"holdfast/metastore/rpc"
)

// idempotencyFlags are the flags of serve about calls with idempotency keys.
type idempotencyFlags struct {
	on         bool
	lifetime   time.Duration
	maxKeys    int64
	requireFor []string
}

func (f *idempotencyFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.on, "idempotency-keys", true, "honour the idempotency keys of calls; false: ignore them, tell clients\nthat there are none, and keep no records of them")
	flags.DurationVar(&f.lifetime, "idempotency-key-lifetime", idempotency.DefaultWindow().Lifetime, "how long after its first use a key may be repeated, 1m to 24h; the\nsame on all servers of a store")
	flags.Int64Var(&f.maxKeys, "idempotency-max-keys", 0, "the most keys remembered, beyond which calls with keys are refused:\nof each caller on PostgreSQL (0: 10000000), of each index in\ndirectories and buckets (0: 200000)")
	flags.StringSliceVar(&f.requireFor, "idempotency-require-key-for", nil, "calls that are refused without a key, such as\nCreateDeleteTask,ResetSourceCheckpoint, separated by commas")
}

func (f *idempotencyFlags) validate() error {
	if err := f.window().Validate(); err != nil {
		return usagef("--idempotency-key-lifetime: %w", err)
	}
	if f.maxKeys < 0 || f.maxKeys > 1<<31-1 {
		return usagef("--idempotency-max-keys is %d, must be from 0 to %d", f.maxKeys, 1<<31-1)
	}
	for _, operation := range f.requireFor {
		if !rpc.IsMutation(operation) {
			return usagef("--idempotency-require-key-for: %q is no call that changes something, such as CreateDeleteTask", operation)
		}
	}
	if !f.on && len(f.requireFor) > 0 {
		return usagef("--idempotency-require-key-for needs --idempotency-keys")
	}
	return nil
}

func (f *idempotencyFlags) window() idempotency.Window {
	window := idempotency.DefaultWindow()
	window.Lifetime = f.lifetime
	return window
}

// toStore says how the store keeps the records of keys.
func (f *idempotencyFlags) toStore(o *openstore.Options) {
	o.NoIdempotencyKeys = !f.on
	o.IdempotencyWindow = f.window()
	o.MaxIdempotencyKeys = f.maxKeys
}

// ofServer says how the server treats keys. One that is read-only refuses every change, with a key or without.
func (f *idempotencyFlags) ofServer(readOnly bool) rpc.IdempotencyOptions {
	o := rpc.IdempotencyOptions{Disabled: !f.on, Window: f.window()}
	if !readOnly {
		o.RequireKeyFor = f.requireFor
	}
	return o
}
