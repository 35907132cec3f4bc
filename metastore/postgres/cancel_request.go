package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

// cancelHandler cancels at the server what a connection waits for when its context ends, rather than leave it to wait
// for a lock there.
//
// It stays on the line until the order was delivered. A pooler gives the session to the next client when the call has
// ended; if it still held our order then it could hit that client, and some poolers crash when a client hangs up before its
// order is delivered. The driver's own handler does hang up.
type cancelHandler struct {
	conn      *pgconn.PgConn
	delivered chan struct{}
}

var _ ctxwatch.Handler = (*cancelHandler)(nil)

func (h *cancelHandler) HandleCancel(context.Context) {
	deadline := time.Now().Add(cancelTimeout)
	_ = h.conn.Conn().SetDeadline(deadline) // it fails on a closed connection only, on which nothing waits
	delivered := make(chan struct{})
	h.delivered = delivered
	go func() {
		defer close(delivered)
		ctx, stop := context.WithDeadline(context.Background(), deadline)
		defer stop()
		_ = h.conn.CancelRequest(ctx) // undelivered, the deadline ends the call
	}()
}

// HandleUnwatchAfterCancel waits for the goroutine of HandleCancel. The connection is closed next, see release.
func (h *cancelHandler) HandleUnwatchAfterCancel() {
	<-h.delivered
	_ = h.conn.Conn().SetDeadline(time.Time{}) // as in HandleCancel
}
