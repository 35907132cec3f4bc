package file

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"holdfast/metastore"
)

const (
	// loadAttempts bounds how often a log is read again because entries were removed meanwhile.
	loadAttempts = 5
	// loadWindow is how many entries are read at once.
	loadWindow = 16
)

// load reads the log from its newest readable snapshot on. Of several callers one reads and the
// others wait for it.
func (l *commitLog[S]) load(ctx context.Context) (*head[S], error) {
	if err := acquire(ctx, l.loadTurn); err != nil {
		return nil, l.storageError(err, "waiting for", l.keys.entries())
	}
	defer release(l.loadTurn)
	if h := l.current.Load(); h != nil {
		return h, nil // read after this call began, so it is new enough
	}
	if err := acquire(ctx, l.env.loading); err != nil {
		return nil, l.storageError(err, "waiting for", l.keys.entries())
	}
	defer release(l.env.loading)
	for range loadAttempts {
		h, err := l.loadOnce(ctx)
		if err != nil || h != nil {
			return h, err
		}
	}
	return nil, metastore.Unavailable(nil, "loading %s: its newest snapshots are not listed, or entries are removed faster than they are read", l.name)
}

// loadOnce returns nil if the log turned out to have been trimmed behind the version it reached.
func (l *commitLog[S]) loadOnce(ctx context.Context) (*head[S], error) {
	names, err := l.env.bucket.List(ctx, l.keys.snapshots())
	if err != nil {
		return nil, l.storageError(err, "listing", l.keys.snapshots())
	}
	snapshots := parseVersions(names)
	h, size, unreadable := l.newestSnapshot(ctx, snapshots)
	if err := ctx.Err(); err != nil {
		return nil, l.storageError(err, "reading", l.keys.snapshots())
	}
	l.snapshots.reset(0, size)
	asked := l.env.clock()
	if err := l.replay(ctx, h); err != nil {
		return nil, err
	}
	genuine, err := l.exists(ctx, h)
	if err != nil {
		return nil, err
	}
	if len(snapshots) > 0 && h.version < snapshots[len(snapshots)-1] {
		if unreadable == nil {
			return nil, nil
		}
		return nil, metastore.Internal(unreadable, "the log of %s is damaged: a snapshot cannot be read, and entries that could replace it are gone", l.name)
	}
	if !genuine {
		return nil, nil
	}
	if h.version > 0 {
		if err := l.env.bucket.Settle(ctx, l.keys.entry(h.version)); err != nil {
			return nil, l.storageError(err, "settling", l.keys.entry(h.version))
		}
	}
	l.advancing.Lock()
	l.current.Store(h)
	l.advancing.Unlock()
	l.isNewest(asked)
	return h, nil
}

// newestSnapshot reads the newest snapshot that can be read, or returns the blank state before the
// first entry. The error is that of the newest snapshot, nil if it was read.
func (l *commitLog[S]) newestSnapshot(ctx context.Context, versions []uint64) (h *head[S], size int64, unreadable error) {
	for _, version := range slices.Backward(versions) {
		h, size, err := l.readSnapshot(ctx, version)
		if err == nil {
			return h, size, unreadable
		}
		if errors.Is(err, errNotExist) {
			continue // removed since it was listed
		}
		err = fmt.Errorf("object %s: %w", l.keys.snapshot(version), err)
		if unreadable == nil {
			unreadable = err
		}
		if ctx.Err() != nil {
			break
		}
		l.env.logger.WarnContext(ctx, "a snapshot cannot be read, trying an older one", "log", l.name, "error", err)
	}
	return &head[S]{state: l.codec.blank()}, 0, unreadable
}

// replay applies the entries behind h. It ends at the first one that does not exist.
func (l *commitLog[S]) replay(ctx context.Context, h *head[S]) error {
	names, err := l.env.bucket.List(ctx, l.keys.entries())
	if err != nil {
		return l.storageError(err, "listing", l.keys.entries())
	}
	// The listing only says how far it is worth reading ahead.
	last := h.version
	if versions := parseVersions(names); len(versions) > 0 {
		last = max(last, versions[len(versions)-1])
	}
	type result struct {
		entry *entry
		size  int
		err   error
	}
	ctx, cancel := context.WithCancel(ctx)
	next := h.version + 1
	var window []chan result
	defer func() {
		cancel()
		for _, answer := range window {
			<-answer
		}
	}()
	for {
		for len(window) == 0 || len(window) < loadWindow && next <= last {
			version, answer := next, make(chan result, 1)
			go func() {
				e, size, err := l.readEntry(ctx, version)
				answer <- result{e, size, err}
			}()
			window = append(window, answer)
			next++
		}
		r := <-window[0]
		window = window[1:]
		if errors.Is(r.err, errNotExist) {
			return nil
		}
		if r.err != nil {
			return r.err
		}
		if err := l.step(ctx, h, r.entry); err != nil {
			return err
		}
		h.version, h.writeID = r.entry.version, r.entry.writeID
		l.snapshots.grew(1, r.size)
	}
}
