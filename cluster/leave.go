package cluster

import "context"

// leaveRounds is how many rounds after NOT_READY other nodes may need to stop sending calls.
const leaveRounds = 3

// Leave tells the cluster that no more calls should be sent here, and returns after some rounds, when the
// nodes have stopped: drain the gRPC server then, and Close last. The member goes on to gossip, so
// nobody takes it for dead. Leave returns early if ctx ends.
func (m *Member) Leave(ctx context.Context) {
	m.mu.Lock()
	m.leaving = true
	m.mu.Unlock()
	m.SetReady(false)
	for range leaveRounds {
		m.mu.Lock()
		round := m.rounds
		m.mu.Unlock()
		select {
		case <-round:
		case <-ctx.Done():
			return
		case <-m.lifetime.Done():
			return
		}
	}
}
