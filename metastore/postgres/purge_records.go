package postgres

import (
	"context"
	"sync"
	"time"

	"holdfast/metastore/idempotency"
)

const (
	// purgeRecordsBatch is how many records one transaction removes.
	purgeRecordsBatch = 5000
	// maxPurgeBatches bounds one run, so that a server that is far behind does not do only this.
	maxPurgeBatches = 100
)

// recordPurge removes records whose keys no server accepts any more, in the background.
type recordPurge struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func (s *Store) startPurge() *recordPurge {
	ctx, cancel := context.WithCancel(context.Background())
	p := &recordPurge{cancel: cancel}
	if s.options.NoIdempotencyKeys || s.options.ReadOnly {
		return p
	}
	p.done.Go(func() {
		ticker := time.NewTicker(s.options.PurgeInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			removed, err := s.purgeRecords(ctx, time.Now(), purgeRecordsBatch)
			if err == nil {
				err = s.countRecords(ctx)
			}
			switch {
			case ctx.Err() != nil:
			case err != nil:
				s.log.ErrorContext(ctx, "old idempotency records could not be removed or counted; the next run tries again", "removed", removed, "error", err)
			case removed > 0:
				s.log.DebugContext(ctx, "old idempotency records were removed", "removed", removed)
			}
		}
	})
	return p
}

func (p *recordPurge) close() {
	p.cancel()
	p.done.Wait()
}

// purgeRecords removes the records that are too old at now, in transactions of a batch each.
func (s *Store) purgeRecords(ctx context.Context, now time.Time, batch int64) (removed int64, err error) {
	oldest := idempotency.FirstKeyAt(s.options.IdempotencyWindow.Purgeable(now))
	for range maxPurgeBatches {
		var n int64
		err := s.mutate(ctx, "removing old idempotency records", "", func() []query {
			return []query{{sql: purgeRecordsSQL, args: [][]byte{textArgument(oldest.String()), int8Argument(batch)}, affected: &n}}
		})
		removed += n
		if err != nil || n < batch {
			return removed, err
		}
	}
	return removed, nil
}
