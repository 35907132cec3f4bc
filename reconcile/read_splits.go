package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"golang.org/x/sync/errgroup"

	"holdfast/metastore"
	"holdfast/reconcile/evidence"
	"holdfast/reconcile/lineage"
	"holdfast/reconcile/splitfile"
)

// splitReader reads the footers of the split files of one index.
type splitReader struct {
	bucket   Bucket
	location Location
	journal  *journal
	limiter  *limiter
	workers  int
	adaptive *splitfile.Adaptive
	progress func(read splitRead)
	// fields are those that evidence is read of, of legacy files. Nil reads none.
	fields *evidence.Fields

	mu    sync.Mutex
	stats ReadStats
}

// ReadStats is what reading the files took.
type ReadStats struct {
	Read      int64 `json:"files_read"`
	Journaled int64 `json:"files_known_from_journal"`
	Requests  int64 `json:"read_requests"`
	Bytes     int64 `json:"bytes_read"`
	Throttled int64 `json:"throttled"`
}

// splitRead is told to the progress for each file.
type splitRead struct{ bytes int64 }

// mostThrottled is how often one object may be throttled until it counts as unreadable: with the
// pauses of the limiter that is several minutes.
const mostThrottled = 20

// read reads every entry. A file that cannot be read or understood is an object of content
// Unreadable; the only errors are those of the journal and the end of the context.
func (r *splitReader) read(ctx context.Context, entries []Entry) ([]splitObject, error) {
	objects := make([]splitObject, len(entries))
	next := make(chan int)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(next)
		for i := range entries {
			select {
			case next <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range r.workers {
		group.Go(func() error {
			for i := range next {
				if err := r.readOne(ctx, entries[i], &objects[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return objects, nil
}

func (r *splitReader) readOne(ctx context.Context, entry Entry, object *splitObject) error {
	*object = splitObject{Entry: entry, id: splitIDOf(entry.Name)}
	place := r.location.Child(entry.Name).String()
	if known, found := r.journal.object(place, entry); found && object.restore(known, r.fields) {
		r.count(ReadStats{Journaled: 1}, 0)
		return nil
	}
	stats := ReadStats{Read: 1}
	r.open(ctx, entry, object, &stats)
	if err := ctx.Err(); err != nil {
		return err
	}
	r.count(stats, entry.Size)
	if object.content == lineage.Unreadable {
		return nil // the next run, perhaps of a newer release, shall try again
	}
	return r.journal.addObject(object.record(place))
}

func (r *splitReader) count(stats ReadStats, bytes int64) {
	r.mu.Lock()
	r.stats.Read += stats.Read
	r.stats.Journaled += stats.Journaled
	r.stats.Requests += stats.Requests
	r.stats.Bytes += stats.Bytes
	r.stats.Throttled += stats.Throttled
	r.mu.Unlock()
	if r.progress != nil {
		r.progress(splitRead{bytes})
	}
}

// open fills in the object.
func (r *splitReader) open(ctx context.Context, entry Entry, object *splitObject, stats *ReadStats) {
	for attempt := 1; ; attempt++ {
		if r.limiter.acquire(ctx) != nil {
			return // the caller sees the end of the context
		}
		file, err := r.openFile(ctx, entry, object, stats)
		throttled := err != nil && isThrottling(err)
		r.limiter.release(throttled)
		if throttled {
			stats.Throttled++
			if attempt < mostThrottled {
				continue
			}
		}
		if err == nil {
			err = object.fill(file)
		}
		if err != nil {
			object.content, object.problem = lineage.Unreadable, err.Error()
		}
		return
	}
}

// openFile opens a file, and reads the evidence of a legacy one.
func (r *splitReader) openFile(ctx context.Context, entry Entry, object *splitObject, stats *ReadStats) (file *splitfile.File, err error) {
	err = withFile(ctx, r.bucket, entry, r.adaptive, stats, func(opened *splitfile.File) error {
		file = opened
		if r.fields == nil || !opened.IsLegacy() {
			return nil
		}
		object.evidence, err = evidence.Read(ctx, opened, *r.fields)
		return err
	})
	return file, err
}

// fill takes over what a file says.
func (o *splitObject) fill(file *splitfile.File) error {
	if file.IsLegacy() {
		if _, err := file.Legacy(); err != nil {
			return err
		}
		o.content = lineage.Legacy
		return nil
	}
	metadata, parents, err := file.Metadata()
	if err != nil {
		return err
	}
	o.content, o.metadata, o.parents = lineage.WithEntry, metadata, parents
	return nil
}

// record returns the object for the journal.
func (o *splitObject) record(location string) journalObject {
	record := journalObject{
		Location: location, Size: o.Size, Modified: o.Modified, ETag: o.ETag, Parents: o.parents,
		Legacy: o.content == lineage.Legacy, Evidence: o.evidence,
	}
	if o.content == lineage.WithEntry {
		record.Metadata = json.RawMessage(o.metadata.Document())
	}
	return record
}

// restore takes over what the journal says. It reports false if that makes no sense, or lacks evidence of
// the fields; with nil none is asked for.
func (o *splitObject) restore(record journalObject, fields *evidence.Fields) bool {
	o.evidence = record.Evidence
	if record.Legacy {
		o.content = lineage.Legacy
		return fields == nil || o.evidence != nil && o.evidence.Fields.Equal(*fields)
	}
	metadata, err := metastore.ParseSplitMetadata(record.Metadata)
	if err != nil || metadata.SplitID != o.id || metadata.FooterEnd != uint64(o.Size) {
		return false
	}
	o.content, o.metadata, o.parents = lineage.WithEntry, metadata, record.Parents
	return true
}

// The objects that statAgain finds are not those that were read.
var (
	errGone     = errors.New("the object is gone since it was listed")
	errReplaced = errors.New("the object was replaced since it was listed")
)

// statAgain looks an object up again, before and after its row is written. It fails with errGone or
// errReplaced, or with another error if it could not find out.
func statAgain(ctx context.Context, bucket Bucket, object *splitObject) error {
	entry, err := bucket.Stat(ctx, object.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errGone
	case err != nil:
		return fmt.Errorf("look the object up again: %w", err)
	case entry.Size != object.Size:
		return fmt.Errorf("%w: it had %d bytes and has %d now", errReplaced, object.Size, entry.Size)
	case entry.ETag != "" && object.ETag != "" && entry.ETag != object.ETag:
		return errReplaced
	}
	return nil
}
