// Command metastore serves and operates a Holdfast metastore. Each command is a file here; what they
// need beyond wiring is in the packages below internal.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// version is set by the linker: -ldflags "-X main.version=v1.2.3". Empty means that the version of
// the module, or of the commit, is shown.
var version string

func main() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	os.Exit(run(context.Background(), os.Args[1:], &system{
		stdin:         os.Stdin,
		stdout:        os.Stdout,
		stderr:        os.Stderr,
		environ:       os.Environ(),
		signals:       signals,
		stdinTerminal: term.IsTerminal(int(os.Stdin.Fd())),
		progress:      term.IsTerminal(int(os.Stderr.Fd())),
		version:       version,
	}))
}
