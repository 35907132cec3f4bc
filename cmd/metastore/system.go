package main

import (
	"context"
	"io"
	"net"
	"os"
)

// system is everything outside of the process that commands use.
type system struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string // KEY=value
	signals        <-chan os.Signal

	stdinTerminal bool // whether a person can be asked
	progress      bool // whether a person watches stderr

	version string
	// serving is called by serve when it is ready. May be nil.
	serving func(grpc, http net.Addr)
}

// interruptible returns a context that the first signal ends, so that a command can clean up.
func (s *system) interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-s.signals:
			cancel(errInterrupted)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}
