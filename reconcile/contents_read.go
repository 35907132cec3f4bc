package reconcile

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"holdfast/reconcile/containment"
	"holdfast/reconcile/evidence"
	"holdfast/reconcile/lineage"
	"holdfast/reconcile/splitfile"
)

// read reads what would decide something, the cheapest first, or refuses it where it would exceed the
// limit.
func (c *contents) read(ctx context.Context, needs []containment.Need) error {
	var bytes int64
	for _, need := range needs {
		bytes += need.Bytes
	}
	c.mayRead(len(needs), bytes)
	rest := c.MaxRead.Value - c.summary.Contents.Bytes
	done := Progress{IndexID: c.name, Phase: Comparing, Total: int64(len(needs))}
	var mu sync.Mutex
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(c.Concurrency)
	for _, need := range needs {
		if rest -= need.Bytes; rest < 0 && !c.readAll {
			c.refuse(need)
			continue
		}
		content := c.contentOf(need.ID)
		group.Go(func() error {
			err := c.readBlocks(reading, need, content)
			if reading.Err() != nil {
				return reading.Err()
			}
			mu.Lock()
			defer mu.Unlock()
			done.Done++
			done.Bytes += need.Bytes
			c.tell(done)
			if errors.Is(err, errJournaling) {
				return err
			}
			if err != nil {
				// What cannot be read is not known; it is never taken for something else.
				c.refuse(need)
			}
			return nil
		})
	}
	return group.Wait()
}

// mayRead tells what is going to be read and reports whether all of it may be.
func (w *indexWork) mayRead(files int, bytes int64) bool {
	plan := ReadPlan{IndexID: w.name, Files: files, Bytes: bytes, Before: w.summary.Contents.Bytes, Most: w.MaxRead.Value}
	switch {
	case !plan.Exceeds():
		w.BeforeReading(plan)
		return true
	case !w.asked:
		w.asked, w.readAll = true, w.BeforeReading(plan)
	}
	return w.readAll
}

func (c *contents) contentOf(id string) *containment.Content {
	content := c.content[id]
	if content == nil {
		content = &containment.Content{}
		c.content[id] = content
	}
	if content.Blocks == nil {
		content.Blocks = make([]containment.Block, len(c.byID[id].evidence.Blocks))
	}
	return content
}

func (c *contents) refuse(need containment.Need) {
	c.contentOf(need.ID).Refused = true
	c.summary.Contents.RefusedFiles++
	c.summary.Contents.RefusedBytes += need.Bytes
}

var errJournaling = errors.New("write the journal")

// readBlocks reads the blocks of one file, and again when the storage throttles.
func (c *contents) readBlocks(ctx context.Context, need containment.Need, content *containment.Content) error {
	object := c.byID[need.ID]
	v := object.version(c.indexWork.place(object))
	blocks := need.Blocks
	return c.patiently(ctx, object, func(file *splitfile.File) error {
		return evidence.ReadBlocks(ctx, file, blocks, func(b evidence.Block) error {
			content.Blocks[b.Number] = b.Block
			blocks = blocks[1:] // what was read is not read again
			if err := c.journal.addBlock(v, b); err != nil {
				return errors.Join(errJournaling, err)
			}
			return nil
		})
	}, func(stats ReadStats) { c.countContent(stats, need.Bytes) })
}

// patiently opens a file and calls do, several times while the storage throttles. What it took is told to
// count.
func (w *indexWork) patiently(ctx context.Context, object *splitObject, do func(*splitfile.File) error, count func(ReadStats)) error {
	var stats ReadStats
	defer func() {
		w.countMu.Lock()
		defer w.countMu.Unlock()
		count(stats)
	}()
	for attempt := 1; ; attempt++ {
		if err := w.limiter.acquire(ctx); err != nil {
			return err
		}
		err := withFile(ctx, w.bucket, object.Entry, &w.adaptive, &stats, do)
		throttled := err != nil && isThrottling(err)
		w.limiter.release(throttled)
		if !throttled || attempt == mostThrottled {
			return err
		}
		stats.Throttled++
	}
}

// readEvidence reads the evidence of files that have none, or of other fields.
func (w *indexWork) readEvidence(ctx context.Context, objects []*splitObject) error {
	fields := w.fields
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(w.Concurrency)
	for _, object := range objects {
		if object.evidence != nil && object.evidence.Fields.Equal(fields) {
			continue
		}
		group.Go(func() error {
			err := w.patiently(reading, object, func(file *splitfile.File) (err error) {
				object.evidence, err = evidence.Read(reading, file, fields)
				return err
			}, func(stats ReadStats) {
				w.summary.Reads.Requests += stats.Requests
				w.summary.Reads.Bytes += stats.Bytes
				w.summary.Reads.Throttled += stats.Throttled
			})
			if reading.Err() != nil {
				return reading.Err()
			}
			if err != nil {
				object.evidence = nil
				if object.content == lineage.Legacy {
					object.content, object.problem = lineage.Unreadable, err.Error()
				}
				return nil
			}
			return w.journal.addObject(object.record(w.place(object)))
		})
	}
	return group.Wait()
}
