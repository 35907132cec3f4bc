package storetest

import (
	"time"
)

// nextSecond returns once the store's clock shows a later second than at the call, and returns that
// second. Cases about timestamps that must move, or must not, need it because stores keep
// timestamps in whole seconds. It asks the store by staging a probe in an index of its own until the
// probe's update timestamp moves, since the store's clock may be another than the test's.
func (b *bundle) nextSecond() int64 {
	b.Helper()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	start := b.storeTimeNow()
	for {
		select {
		case <-poll.C:
		case <-b.ctx.Done():
			b.Fatalf("the store's clock stands at %d: %v", start, b.ctx.Err())
		}
		if now := b.storeTimeNow(); now > start {
			return now
		}
	}
}

// storeTimeNow returns the store's current second.
func (b *bundle) storeTimeNow() int64 {
	b.Helper()
	if b.probe.IndexID == "" {
		b.probe = b.index("probe")
	}
	b.stage(b.probe, newSplit("probe"))
	return b.split(b.probe, "probe").UpdateTimestamp
}
