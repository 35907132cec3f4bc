package rpc

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"google.golang.org/grpc"
	"holdfast/metastore/idempotency"
)

const (
	// DefaultMaxMessageSize is the largest message that peers accept by default, in bytes.
	DefaultMaxMessageSize = 20 << 20
	// MinMaxMessageSize is the smallest limit on messages that may be set, in bytes.
	MinMaxMessageSize = 1_000_000

	defaultMaxConcurrentRequests = 512
	defaultRequestTimeout        = 30 * time.Second
	defaultStallTimeout          = 30 * time.Second
	defaultConnectivityInterval  = 10 * time.Second
	defaultKeyWait               = 2 * time.Second
	defaultMaxKeyWaiters         = 8
	defaultVersion               = "unknown"
)

// ServerOptions configures a Server. The zero value is ready to use.
type ServerOptions struct {
	// Version is what GetCapabilities tells clients, for people only. Empty means "unknown".
	Version string
	// Logger receives one line per call, and panics with their stack. Nil discards them.
	Logger *slog.Logger
	// Registerer receives the gRPC metrics. Nil means no metrics.
	Registerer prometheus.Registerer
	// TLS is the certificate and client policy of the listener. Nil means plain text.
	TLS *tls.Config
	// Register adds services of other packages to the server. The limit on concurrent requests does not
	// hold for them. Nil adds none.
	Register func(grpc.ServiceRegistrar)

	// MaxMessageSize bounds one message in either direction, in bytes, before compression. 0 means
	// DefaultMaxMessageSize; less than MinMaxMessageSize is refused.
	MaxMessageSize int
	// MaxConcurrentRequests bounds the calls of the metastore service that run at the same time; more
	// are refused at once with TooManyRequests. 0 means 512.
	MaxConcurrentRequests int
	// RequestTimeout bounds the work of one call that is not a stream. A write that has begun is
	// bounded by it alone: it goes on although the client went away. A call that the store does in pieces has this
	// time for each piece, and ends between two when the client went away. 0 means 30 s.
	RequestTimeout time.Duration
	// StallTimeout bounds how long a stream waits for a client that does not read. 0 means 30 s.
	StallTimeout time.Duration
	// Idempotency is about calls with idempotency keys.
	Idempotency IdempotencyOptions
	// ConnectivityInterval is the time between two checks of the store's connectivity, which the health
	// service follows, and the time that one check may take. 0 means 10 s.
	ConnectivityInterval time.Duration
}

// IdempotencyOptions says how calls with idempotency keys are served. The zero value honours them as
// long as the store can.
type IdempotencyOptions struct {
	// Disabled ignores keys, and tells clients that there are none.
	Disabled bool
	// Window says how old keys may be. The store must keep records at least as long. The zero value means
	// idempotency.DefaultWindow.
	Window idempotency.Window
	// KeyWait is how long a call waits for another one with its key. 0 means 2 s.
	KeyWait time.Duration
	// MaxWaiters bounds the calls that wait so. 0 means 8.
	MaxWaiters int
	// RequireKeyFor names the mutating RPCs, such as "CreateDeleteTask", that are refused without a key. Create-only
	// staging is not: it may be repeated without one.
	RequireKeyFor []string
}

// withDefaults fills in the defaults and refuses values that cannot work.
func (o ServerOptions) withDefaults() (ServerOptions, error) {
	if o.Version == "" {
		o.Version = defaultVersion
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Idempotency.Window == (idempotency.Window{}) {
		o.Idempotency.Window = idempotency.DefaultWindow()
	}
	if o.Idempotency.MaxWaiters == 0 {
		o.Idempotency.MaxWaiters = defaultMaxKeyWaiters
	}
	err := o.Idempotency.Window.Validate()
	if err != nil {
		return o, fmt.Errorf("server options: %w", err)
	}
	if o.MaxMessageSize, err = messageSizeOrDefault(o.MaxMessageSize); err != nil {
		return o, fmt.Errorf("server options: %w", err)
	}
	if o.MaxConcurrentRequests < 0 {
		return o, fmt.Errorf("server options: MaxConcurrentRequests is %d, must be positive", o.MaxConcurrentRequests)
	}
	if o.MaxConcurrentRequests == 0 {
		o.MaxConcurrentRequests = defaultMaxConcurrentRequests
	}
	for _, d := range []struct {
		name    string
		value   *time.Duration
		instead time.Duration
	}{
		{"RequestTimeout", &o.RequestTimeout, defaultRequestTimeout},
		{"StallTimeout", &o.StallTimeout, defaultStallTimeout},
		{"KeyWait", &o.Idempotency.KeyWait, defaultKeyWait},
		{"ConnectivityInterval", &o.ConnectivityInterval, defaultConnectivityInterval},
	} {
		if *d.value < 0 {
			return o, fmt.Errorf("server options: %s is %s, must be positive", d.name, *d.value)
		}
		if *d.value == 0 {
			*d.value = d.instead
		}
	}
	return o, nil
}

func messageSizeOrDefault(size int) (int, error) {
	if size == 0 {
		return DefaultMaxMessageSize, nil
	}
	if size < MinMaxMessageSize {
		return 0, fmt.Errorf("MaxMessageSize is %d bytes, must be at least %d", size, MinMaxMessageSize)
	}
	return size, nil
}
