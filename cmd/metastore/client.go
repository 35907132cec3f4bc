package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore"
	"holdfast/metastore/rpc"
)

const (
	defaultServer  = "127.0.0.1:7281"
	defaultTimeout = 30 * time.Second
)

// clientFlags are the flags of commands that call a server.
type clientFlags struct {
	server  string
	timeout time.Duration
	format  output.Format
	tls     clientTLSFlags
	// key is that of a command that changes something.
	key keyFlag
}

func (f *clientFlags) add(cmd *cobra.Command) {
	f.format = output.Text
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.server, "server", defaultServer, "address of the metastore, HOST:PORT")
	flags.DurationVar(&f.timeout, "timeout", defaultTimeout, "how long to wait for the answer to one call")
	flags.Var(&f.format, "format", "how to write the result: text, or json for machines")
	f.tls.add(flags)
}

// dial makes a client. It connects at the first call.
func (f *clientFlags) dial() (*rpc.Client, error) {
	if f.timeout <= 0 {
		return nil, usagef("--timeout is %s, must be positive", f.timeout)
	}
	if f.server == "" {
		return nil, usagef("--server is empty, must be HOST:PORT")
	}
	config, err := f.tls.config()
	if err != nil {
		return nil, err
	}
	client, err := rpc.Dial(f.server, rpc.ClientOptions{CallTimeout: f.timeout, TLS: config})
	if err != nil {
		return nil, usagef("--server: %w", err)
	}
	return client, nil
}

// withClient calls do with a client and a context that a signal ends.
func (c *command) withClient(cmd *cobra.Command, f *clientFlags, do func(ctx context.Context, client *rpc.Client) error) error {
	client, err := f.dial()
	if err != nil {
		return err
	}
	ctx, cancel := c.interruptible(cmd.Context())
	defer cancel()
	err = do(ctx, client)
	if closing := client.Close(); err == nil && closing != nil {
		err = fmt.Errorf("close the connection to %s: %w", f.server, closing)
	}
	return err
}

// lookUp finds an index by its id, or by its UID "<id>:<ULID>".
func (f *clientFlags) lookUp(ctx context.Context, client *rpc.Client, name string) (*metastore.IndexMetadata, error) {
	var lookup metastore.IndexLookup
	if strings.Contains(name, ":") {
		uid, err := metastore.ParseIndexUID(name)
		if err != nil {
			return nil, usagef("%w", err)
		}
		lookup.IndexUID = metastore.Some(uid)
	} else {
		lookup.IndexID = metastore.Some(name)
	}
	index, err := client.IndexMetadata(ctx, lookup)
	if err != nil {
		return nil, f.explain(ctx, err, fmt.Sprintf("look up index %q", name))
	}
	return index, nil
}

// print writes a line of a result.
func (c *command) print(format string, args ...any) error {
	_, err := fmt.Fprintf(c.stdout, format+"\n", args...)
	return err
}
