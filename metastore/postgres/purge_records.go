package postgres

import (
	"context"
	"errors"
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
			removed, err := s.tidyRecords(ctx)
			switch {
			case ctx.Err() != nil:
			case err != nil:
				s.log.ErrorContext(ctx, "old idempotency records could not be removed, counted or measured; the next run tries again", "removed", removed, "error", err)
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

// tidyRecords removes old records, counts those of each caller and measures what is left. That they cannot be removed is no
// reason not to do the rest.
func (s *Store) tidyRecords(ctx context.Context) (removed int64, err error) {
	removed, err = s.purgeRecords(ctx, time.Now(), purgeRecordsBatch)
	s.statistics.removed(removed)
	if err != nil && ctx.Err() == nil {
		s.statistics.failed()
	}
	return removed, errors.Join(err, s.countRecords(ctx), s.measureRecords(ctx, time.Now()))
}

// purgeRecords removes the records that are too old at now, in transactions of a batch each. Where the clock of the database
// is behind, that one counts: other servers may take keys that are too old only for this one.
func (s *Store) purgeRecords(ctx context.Context, now time.Time, batch int64) (removed int64, err error) {
	err = s.read(ctx, "reading the clock of the database", func() []query {
		return []query{{sql: "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint", row: func(row columns) error {
			if database := time.UnixMilli(row.int8(0)); database.Before(now) {
				now = database
			}
			return nil
		}}}
	})
	if err != nil {
		return 0, err
	}
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
