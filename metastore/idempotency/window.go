package idempotency

import (
	"fmt"
	"time"
)

// Window says how old a key may be. Its age counts from the time in the key. The zero value has no
// room for any key; DefaultWindow is the usual one.
type Window struct {
	// Lifetime is how long after its first call a key may be used, as servers tell their clients.
	Lifetime time.Duration
	// MintSlack is how long before its first call a key may be made.
	MintSlack time.Duration
	// ClockSkew is how far the clock of a client may be ahead.
	ClockSkew time.Duration
	// PurgeDelay is how long after a key is refused its record is kept. It must be at least twice ClockSkew,
	// so that no server accepts a key whose record another one has removed.
	PurgeDelay time.Duration
}

// DefaultWindow is half an hour, with room for slow clients and wrong clocks.
func DefaultWindow() Window {
	return Window{Lifetime: 30 * time.Minute, MintSlack: 5 * time.Minute, ClockSkew: time.Minute, PurgeDelay: 10 * time.Minute}
}

const (
	minLifetime = time.Minute
	maxLifetime = 24 * time.Hour
)

// Validate checks that the durations fit together.
func (w Window) Validate() error {
	switch {
	case w.Lifetime < minLifetime || w.Lifetime > maxLifetime:
		return fmt.Errorf("the lifetime of idempotency keys is %s, must be %s to %s", w.Lifetime, minLifetime, maxLifetime)
	case w.MintSlack < 0 || w.ClockSkew < 0:
		return fmt.Errorf("the mint slack is %s and the clock skew %s, neither may be negative", w.MintSlack, w.ClockSkew)
	case w.PurgeDelay < 2*w.ClockSkew:
		return fmt.Errorf("the purge delay is %s, must be at least %s, twice the clock skew: else a server whose clock is behind takes a key whose record is gone for a new one", w.PurgeDelay, 2*w.ClockSkew)
	}
	return nil
}

// Horizon is the age from which on a key is refused.
func (w Window) Horizon() time.Duration { return w.Lifetime + w.MintSlack }

// Check refuses a key that is too old or from the future, with an *Error. A key that is too old may
// have been used: its record may be gone, so the call may not be executed.
func (w Window) Check(key Key, now time.Time) error {
	switch age := now.Sub(key.Time()); {
	case age < -w.ClockSkew:
		return &Error{Reason: KeyFromFuture, Message: fmt.Sprintf("the idempotency key was made at %s, and the server's clock says %s: set the clock of the client, then use a new key", instant(key.Time()), instant(now)),
			Metadata: map[string]string{"keyTime": instant(key.Time()), "serverTime": instant(now), "maxSkewSeconds": seconds(w.ClockSkew)}}
	case age > w.Horizon():
		return &Error{Reason: KeyExpired, Message: fmt.Sprintf("the idempotency key is %s old and no longer remembered: read what the call did, if it was executed, and use a new key", age.Truncate(time.Second)),
			Metadata: map[string]string{"keyAgeSeconds": seconds(age), "lifetimeSeconds": seconds(w.Lifetime)}}
	}
	return nil
}

// Purgeable is the time of the key up to which records may be removed: every server refuses these keys.
func (w Window) Purgeable(now time.Time) time.Time { return now.Add(-w.Horizon() - w.PurgeDelay) }

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func seconds(d time.Duration) string { return fmt.Sprint(int64(d / time.Second)) }
