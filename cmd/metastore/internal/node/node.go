// Package node runs a metastore server: the store, the gRPC server on it, and HTTP for probes and
// metrics, from the start to a graceful stop.
package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"holdfast/cluster"
	"holdfast/metastore"
	"holdfast/metastore/rpc"
)

// Options says what to run. Open, Listen, Logger and Signals are required.
type Options struct {
	// Open opens the store. Its context ends when the node is told to stop.
	Open func(ctx context.Context) (metastore.Store, error)
	// StoreName names the store in logs, without secrets.
	StoreName string

	// Listen is the address of the gRPC server.
	Listen string
	// HTTP is the address of /metrics, /healthz and /readyz. Empty means none.
	HTTP string

	// RPC configures the gRPC server; its Logger, Registerer and Register are set by Run.
	RPC rpc.ServerOptions
	// Join starts the node's member of a cluster, given the address of the gRPC server. It is told to
	// leave before calls are refused. Nil means no cluster.
	Join func(grpc net.Addr) (*cluster.Member, error)
	// DrainTimeout bounds how long calls under way may take after the first signal. 0 means no time.
	DrainTimeout time.Duration

	Logger *slog.Logger
	// Signals tells the node to stop: the first one gracefully, the second one at once.
	Signals <-chan os.Signal
	// Serving is called when the node is ready, with its addresses; http is nil without HTTP. May be nil.
	Serving func(grpc, http net.Addr)
}

// ErrStoppedAtOnce says that a second signal ended the node before calls were finished and the store
// was closed.
var ErrStoppedAtOnce = errors.New("stopped at once by a second signal, calls under way were cut off")

type node struct {
	options  Options
	ready    *readiness
	stop     context.Context // ends with the first signal, or when ctx of Run does
	force    <-chan struct{} // is closed by the second signal
	registry *prometheus.Registry
}

// Run serves until the first signal, the end of ctx, or a failure; then it turns not ready, finishes
// the calls under way and closes the store. It returns nil after a graceful stop.
func Run(ctx context.Context, options Options) error {
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	force := make(chan struct{})
	done := make(chan struct{})
	defer close(done)
	go watchSignals(options, done, cancel, force)

	n := &node{options: options, ready: newReadiness(), stop: stop, force: force, registry: newRegistry(options.RPC.Version)}
	return n.run()
}

// watchSignals ends when Run does.
func watchSignals(options Options, done <-chan struct{}, stop context.CancelFunc, force chan<- struct{}) {
	for count := 0; ; count++ {
		select {
		case signal := <-options.Signals:
			if count > 0 {
				close(force)
				return
			}
			options.Logger.Info("stopping: finishing the calls under way; a second signal stops at once", "signal", signal.String(), "drain_timeout", options.DrainTimeout.String())
			stop()
		case <-done:
			return
		}
	}
}

func newRegistry(version string) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "holdfast_build_info",
		Help:        "Always 1; the label is the version of the metastore.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	registry.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}

func (n *node) run() error {
	// Ports first: a port that is taken is found before the store does any work.
	listener, err := net.Listen("tcp", n.options.Listen)
	if err != nil {
		return fmt.Errorf("listen for gRPC: %w", err)
	}
	web, err := n.startHTTP()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	store, err := n.options.Open(n.stop)
	if err != nil {
		err = errors.Join(fmt.Errorf("open store %s: %w", n.options.StoreName, err), listener.Close(), web.shutdown())
		if n.stop.Err() != nil {
			return nil // told to stop while the store was being opened
		}
		return err
	}
	err = n.serve(store, listener, web)
	if errors.Is(err, ErrStoppedAtOnce) {
		return err
	}
	return n.unlessForced(func() error { return errors.Join(err, web.shutdown(), closeStore(store)) })
}

func closeStore(store metastore.Store) error {
	if err := store.Close(); err != nil {
		return fmt.Errorf("close the store: %w", err)
	}
	return nil
}

// serve runs the gRPC server until it is time to stop, and drains it.
func (n *node) serve(store metastore.Store, listener net.Listener, web *webServer) error {
	options := n.options.RPC
	options.Logger = n.options.Logger
	options.Registerer = n.registry
	member, err := n.joinCluster(listener, &options)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server, err := rpc.NewServer(store, options)
	if err != nil {
		return errors.Join(err, closeMember(member), listener.Close())
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	server.MarkServing()
	n.ready.serving(store.CheckConnectivity)
	if member != nil {
		member.FollowHealth(store.CheckConnectivity)
	}
	n.options.Logger.Info("metastore is serving", "version", options.Version, "store", n.options.StoreName, "grpc", listener.Addr().String(), "http", web.address())
	if n.options.Serving != nil {
		n.options.Serving(listener.Addr(), web.netAddr())
	}

	select {
	case <-n.stop.Done():
	case err = <-served:
		n.ready.draining()
		return errors.Join(err, n.drain(server), closeMember(member))
	}
	n.ready.draining()
	if err := n.leaveCluster(member); err != nil {
		return err
	}
	err = n.drain(server)
	if errors.Is(err, ErrStoppedAtOnce) {
		return err
	}
	return errors.Join(err, <-served, closeMember(member))
}

// drain finishes the calls under way. A drain that takes too long is worth a warning but no failure:
// the calls were told.
func (n *node) drain(server *rpc.Server) error {
	return n.unlessForced(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), n.options.DrainTimeout)
		defer cancel()
		if err := server.Drain(ctx); err != nil {
			n.options.Logger.Warn("calls were still under way when the drain timeout ended, they were cancelled", "drain_timeout", n.options.DrainTimeout.String())
		}
		return nil
	})
}

// unlessForced waits for work, but not beyond the second signal. The work is then left alone, as the
// process is about to end.
func (n *node) unlessForced(work func() error) error {
	finished := make(chan error, 1)
	go func() { finished <- work() }()
	select {
	case err := <-finished:
		return err
	case <-n.force:
		return ErrStoppedAtOnce
	}
}

// startHTTP returns nil if there is to be no HTTP.
func (n *node) startHTTP() (*webServer, error) {
	if n.options.HTTP == "" {
		return nil, nil
	}
	listener, err := net.Listen("tcp", n.options.HTTP)
	if err != nil {
		return nil, fmt.Errorf("listen for HTTP: %w", err)
	}
	return startWebServer(listener, n.handler(), n.options.Logger), nil
}

func (n *node) handler() http.Handler { return newHandler(n.registry, n.ready) }
