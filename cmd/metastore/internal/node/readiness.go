package node

import (
	"context"
	"sync"
	"time"
)

// checkTimeout bounds how long a readiness probe waits for the storage.
const checkTimeout = 2 * time.Second

// readiness says whether calls should be sent to this node.
type readiness struct {
	mu     sync.Mutex
	reason string // empty while serving
	check  func(ctx context.Context) error
}

func newReadiness() *readiness { return &readiness{reason: "starting: the store is being opened"} }

// serving makes the node ready for as long as check succeeds.
func (r *readiness) serving(check func(ctx context.Context) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reason, r.check = "", check
}

// draining makes the node not ready for good.
func (r *readiness) draining() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reason = "stopping: finishing the calls under way"
}

// whyNot returns why the node is not ready, empty if it is. Probers learn no details of a failing
// storage; they are in the log and in the answers to calls.
func (r *readiness) whyNot(ctx context.Context) string {
	r.mu.Lock()
	reason, check := r.reason, r.check
	r.mu.Unlock()
	if reason != "" {
		return reason
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if err := check(ctx); err != nil {
		return "the store cannot be reached"
	}
	return ""
}
