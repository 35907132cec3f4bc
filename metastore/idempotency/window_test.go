package idempotency_test

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"holdfast/metastore/idempotency"
)

// keyOf makes a key of a time.
func keyOf(at time.Time) idempotency.Key {
	key := idempotency.Key{6: 0x70, 8: 0x80}
	var milliseconds [8]byte
	binary.BigEndian.PutUint64(milliseconds[:], uint64(at.UnixMilli()))
	copy(key[:6], milliseconds[2:])
	return key
}

func TestTheWindowOfKeys(t *testing.T) {
	t.Parallel()
	window := idempotency.DefaultWindow()
	now := time.UnixMilli(1_764_500_000_000)
	horizon := window.Lifetime + window.MintSlack
	for name, c := range map[string]struct {
		age  time.Duration
		want idempotency.Reason
	}{
		"59 seconds ahead":          {-59 * time.Second, ""},
		"61 seconds ahead":          {-61 * time.Second, idempotency.KeyFromFuture},
		"a second before too old":   {horizon - time.Second, ""},
		"a second past the horizon": {horizon + time.Second, idempotency.KeyExpired},
		"of 1970":                   {now.Sub(time.UnixMilli(0)), idempotency.KeyExpired},
	} {
		err := window.Check(keyOf(now.Add(-c.age)), now)
		var refused *idempotency.Error
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &refused) || refused.Reason != c.want || len(refused.Metadata) == 0) {
			t.Errorf("%s: %v, want reason %q with details", name, err, c.want)
		}
	}
}

func TestARecordOutlivesEveryServerThatAcceptsItsKey(t *testing.T) {
	t.Parallel()
	window := idempotency.DefaultWindow()
	now := time.UnixMilli(1_764_500_000_000)
	oldest := window.Purgeable(now)
	// A server whose clock is behind by the whole skew still refuses what a server ahead by it removes.
	behind, ahead := now.Add(-window.ClockSkew), now.Add(window.ClockSkew)
	if err := window.Check(keyOf(window.Purgeable(ahead)), behind); !errors.Is(err, &idempotency.Error{Reason: idempotency.KeyExpired}) {
		t.Fatalf("a key whose record may be gone: %v", err)
	}
	if oldest.After(now.Add(-window.Horizon())) {
		t.Fatalf("records up to %s are removed, keys from %s on are accepted", oldest, now.Add(-window.Horizon()))
	}
}

func TestDurationsThatDoNotFitTogetherAreRefused(t *testing.T) {
	t.Parallel()
	if err := idempotency.DefaultWindow().Validate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*idempotency.Window){
		"a short purge delay": func(w *idempotency.Window) { w.PurgeDelay = 2*w.ClockSkew - 1 },
		"no lifetime":         func(w *idempotency.Window) { w.Lifetime = 0 },
		"a lifetime of days":  func(w *idempotency.Window) { w.Lifetime = 25 * time.Hour },
		"negative slack":      func(w *idempotency.Window) { w.MintSlack = -1 },
	} {
		window := idempotency.DefaultWindow()
		change(&window)
		if window.Validate() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
