package rpc

import (
	"crypto/tls"
	"fmt"
	"time"

	"google.golang.org/grpc"
)

const (
	defaultCallTimeout   = 30 * time.Second
	defaultRetryAttempts = 6
	defaultRetryDelay    = 200 * time.Millisecond
)

// ClientOptions configures a Client. The zero value connects in plain text with the defaults.
type ClientOptions struct {
	// TLS is how to verify the server, and the certificate to show it. Nil means plain text.
	TLS *tls.Config
	// MaxMessageSize bounds one message in either direction, in bytes. 0 means DefaultMaxMessageSize;
	// less than MinMaxMessageSize is refused. A call with a larger request fails with InvalidArgument and is
	// not sent.
	MaxMessageSize int
	// CallTimeout bounds each attempt of a call that is not a stream, beside the caller's context. 0
	// means 30 s.
	CallTimeout time.Duration
	// RetryAttempts is how often a call that may be repeated safely is tried in total. 0 means 6, 1 means
	// no retries.
	RetryAttempts int
	// RetryDelay is the pause before the second attempt. It doubles for each further one, up to 5 s, and
	// varies by half. 0 means 200 ms.
	RetryDelay time.Duration
	// NoIdempotencyKeys sends writes without keys, so that they are not repeated.
	NoIdempotencyKeys bool
	// DialOptions are added to those of the client, for credentials, metrics or another dialer.
	DialOptions []grpc.DialOption
}

func (o ClientOptions) withDefaults() (ClientOptions, error) {
	var err error
	if o.MaxMessageSize, err = messageSizeOrDefault(o.MaxMessageSize); err != nil {
		return o, fmt.Errorf("client options: %w", err)
	}
	switch {
	case o.CallTimeout < 0:
		return o, fmt.Errorf("client options: CallTimeout is %s, must be positive", o.CallTimeout)
	case o.RetryAttempts < 0:
		return o, fmt.Errorf("client options: RetryAttempts is %d, must be positive", o.RetryAttempts)
	case o.RetryDelay < 0:
		return o, fmt.Errorf("client options: RetryDelay is %s, must be positive", o.RetryDelay)
	}
	if o.CallTimeout == 0 {
		o.CallTimeout = defaultCallTimeout
	}
	if o.RetryAttempts == 0 {
		o.RetryAttempts = defaultRetryAttempts
	}
	if o.RetryDelay == 0 {
		o.RetryDelay = defaultRetryDelay
	}
	return o, nil
}
