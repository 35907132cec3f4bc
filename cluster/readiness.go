package cluster

import (
	"context"
	"slices"
	"time"

	"holdfast/cluster/internal/gossip"
)

// SetReady says whether nodes should send calls to the metastore, and tells all members at once if that
// changed. After Leave it has no effect.
func (m *Member) SetReady(is bool) {
	m.mu.Lock()
	m.ready = is && !m.leaving
	m.mu.Unlock()
	m.send(m.with(m.announceReadiness))
}

// announceReadiness tells all members of the readiness if it changed.
func (m *Member) announceReadiness(now time.Time, machine *gossip.Machine) []gossip.Packet {
	if !machine.Set(now, keyReadiness, readiness(m.ready && !m.hidden)) {
		return nil
	}
	return machine.Announce(now)
}

const (
	// aloneFor is how long a store may fail before the only metastore of a cluster says that it is not
	// ready. Until then callers get errors at once; afterwards they wait in vain until they give up.
	aloneFor = 30 * time.Second
	// amongOthersFor is the same when another metastore can take the calls.
	amongOthersFor = 8 * time.Second
)

// healthRule decides from checks of the store whether a metastore is ready. One failure is not enough:
// a store that fails for a moment is no reason to move all calls. The zero value has seen no check and
// is not ready.
type healthRule struct {
	ready        bool
	failures     int
	failingSince time.Time
}

// observe takes in the result of a check that began at a time, and says whether the metastore is ready.
func (r *healthRule) observe(began time.Time, err error, alone bool) bool {
	if err == nil {
		*r = healthRule{ready: true}
		return true
	}
	r.failures++
	if r.failures == 1 {
		r.failingSince = began
	}
	limit := amongOthersFor
	if alone {
		limit = aloneFor
	}
	if r.failures > 1 && began.Sub(r.failingSince) >= limit {
		r.ready = false
	}
	return r.ready
}

// FollowHealth keeps the readiness in step with a check, such as that of the store's connectivity, until
// Leave or Close. Call it once, when the gRPC server accepts connections.
func (m *Member) FollowHealth(check func(context.Context) error) {
	m.running.Go(func() {
		ticker := time.NewTicker(m.options.HealthInterval)
		defer ticker.Stop()
		var rule healthRule
		for {
			began := time.Now()
			err := m.checkHealth(check)
			if m.lifetime.Err() != nil {
				return
			}
			before := rule.ready
			if now := rule.observe(began, err, m.alone()); now != before {
				if now {
					m.options.Logger.Info("the member of the cluster turns ready, the store can be reached")
				} else {
					m.options.Logger.Warn("the member of the cluster turns not ready, the store cannot be reached", "error", err)
				}
				m.SetReady(now)
			}
			select {
			case <-ticker.C:
			case <-m.lifetime.Done():
				return
			}
		}
	})
}

func (m *Member) checkHealth(check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(m.lifetime, m.options.HealthInterval)
	defer cancel()
	return check(ctx)
}

// alone says whether no other member of the same role takes calls.
func (m *Member) alone() bool {
	for _, other := range m.Members() {
		if !other.Self && other.Live && other.Ready && slices.Contains(other.Services, m.options.service()) {
			return false
		}
	}
	return true
}
