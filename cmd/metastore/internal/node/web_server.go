package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	headerTimeout   = 5 * time.Second
	requestTimeout  = 30 * time.Second
	shutdownTimeout = 2 * time.Second
)

// webServer serves HTTP. A nil one does nothing.
type webServer struct {
	server   *http.Server
	listener net.Listener
	served   chan struct{}
}

func startWebServer(listener net.Listener, handler http.Handler, logger *slog.Logger) *webServer {
	w := &webServer{
		listener: listener,
		served:   make(chan struct{}),
		server: &http.Server{
			Handler:           handler,
			ReadHeaderTimeout: headerTimeout,
			ReadTimeout:       requestTimeout,
			WriteTimeout:      requestTimeout,
			IdleTimeout:       time.Minute,
			MaxHeaderBytes:    16 << 10,
			ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
		},
	}
	go func() {
		defer close(w.served)
		if err := w.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("the HTTP server for probes and metrics failed", "error", err)
		}
	}()
	return w
}

func (w *webServer) shutdown() error {
	if w == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	err := w.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = w.server.Close() // a slow reader of metrics is no reason to stay
	}
	<-w.served
	if err != nil {
		return fmt.Errorf("stop the HTTP server: %w", err)
	}
	return nil
}

func (w *webServer) netAddr() net.Addr {
	if w == nil {
		return nil
	}
	return w.listener.Addr()
}

func (w *webServer) address() string {
	if w == nil {
		return "off"
	}
	return w.listener.Addr().String()
}

func newHandler(registry *prometheus.Registry, ready *readiness) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if reason := ready.whyNot(r.Context()); reason != "" {
			answer(w, http.StatusServiceUnavailable, reason)
			return
		}
		answer(w, http.StatusOK, "ok")
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, "Holdfast metastore: /healthz, /readyz, /metrics")
	})
	return mux
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// A prober that has gone away needs no answer.
	_, _ = fmt.Fprintln(w, text)
}
