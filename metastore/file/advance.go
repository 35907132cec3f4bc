package file

import (
	"context"
	"errors"
	"slices"
	"time"

	"holdfast/metastore"
)

// readAhead bounds how many entries are read before they are applied.
const readAhead = 64

// flightPatience is how long a reader waits for this process' own commit before it reads the entry
// itself.
const flightPatience = 50 * time.Millisecond

// advance asks the storage for entries behind the current version, applies them, and returns the
// newest version.
func (l *commitLog[S]) advance(ctx context.Context) (*head[S], error) {
	for {
		h := l.current.Load()
		if h == nil {
			return l.load(ctx)
		}
		asked := l.env.clock()
		entries, bytes, err := l.entriesAfter(ctx, h)
		if err != nil {
			return nil, err
		}
		genuine, err := l.confirm(ctx, h)
		if err != nil {
			return nil, err
		}
		if !genuine {
			l.discard(h)
			continue
		}
		if len(entries) == 0 {
			l.isNewest(asked)
			return h, nil
		}
		if l.current.Load() != h {
			continue
		}
		if slices.ContainsFunc(entries, (*entry).isImport) {
			l.discard(h) // the state is in another object, which loading reads
			continue
		}
		if err := l.env.bucket.Settle(ctx, l.keys.entry(entries[0].version)); err != nil {
			return nil, l.storageError(err, "settling", l.keys.entry(entries[0].version))
		}
		if err := l.follow(h, entries, bytes); err != nil {
			return nil, err
		}
	}
}

// entriesAfter reads the entries behind h that exist, up to a bound.
func (l *commitLog[S]) entriesAfter(ctx context.Context, h *head[S]) (entries []*entry, bytes int, err error) {
	for len(entries) < readAhead && bytes < maxGroupBytes {
		e, size, err := l.readEntry(ctx, h.version+1+uint64(len(entries)))
		if errors.Is(err, errNotExist) {
			break
		}
		if err != nil {
			return nil, 0, err
		}
		entries = append(entries, e)
		bytes += size
		if f := l.flight.Load(); f != nil && f.version == e.version {
			// Our own commit is about to be over, or about to lose. In the first case this spares us
			// settling the entry. Either way the entry is right as it was read.
			select {
			case <-f.done:
			case <-ctx.Done():
			case <-time.After(flightPatience):
			}
			break
		}
	}
	return entries, bytes, nil
}

// follow applies entries that were read behind h, unless that has been done meanwhile.
func (l *commitLog[S]) follow(h *head[S], entries []*entry, bytes int) error {
	l.advancing.Lock()
	defer l.advancing.Unlock()
	current := l.current.Load()
	if current != h {
		return nil
	}
	next := &head[S]{state: h.state.fork()}
	for _, e := range entries {
		if err := l.applyRead(next.state, e); err != nil {
			return err
		}
		next.version, next.writeID = e.version, e.writeID
	}
	l.current.Store(next)
	l.snapshots.grew(len(entries), bytes)
	return nil
}

func (l *commitLog[S]) damaged(version uint64, err error) error {
	return metastore.Internal(err, "the log of %s is damaged: object %s", l.name, l.keys.entry(version))
}

// confirm reports whether what was just found, or not found, behind h can be trusted: that the entry
// behind h had not been removed. It reads the storage only if that is not sure anyway.
func (l *commitLog[S]) confirm(ctx context.Context, h *head[S]) (bool, error) {
	if confirmed := l.confirmed.Load(); confirmed != nil && l.env.elapsed(*confirmed) < l.env.confirmAge {
		return true, nil
	}
	return l.exists(ctx, h)
}

// isNewest records that the current version was the newest one at that time.
func (l *commitLog[S]) isNewest(at time.Time) {
	l.checked.Store(&at)
	l.confirmed.Store(&at)
}

// exists reads the newest entry of h again. See the package comment for what it proves.
func (l *commitLog[S]) exists(ctx context.Context, h *head[S]) (bool, error) {
	if h.version == 0 {
		_, err := l.env.bucket.Read(ctx, l.keys.trimmed(), maxEntryBytes)
		if errors.Is(err, errNotExist) {
			return true, nil
		}
		if err != nil {
			return false, l.storageError(err, "reading", l.keys.trimmed())
		}
		return false, nil
	}
	e, _, err := l.readEntry(ctx, h.version)
	if errors.Is(err, errNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return e.writeID == h.writeID, nil
}
