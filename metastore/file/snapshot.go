package file

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// snapshotFormat is the version of what our member of a snapshot says, and snapshotFormatRecords that of
// one with idempotency records: a program that does not know these must not go on without them.
const (
	snapshotFormat        = 1
	snapshotFormatRecords = 2
)

// snapshotSchedule knows when a log needs its next snapshot, and since when this process has known
// the ones that exist. It is safe for concurrent use.
type snapshotSchedule struct {
	mu sync.Mutex
	// size is that of the last snapshot; entries and bytes have come since then.
	size    int64
	entries uint64
	bytes   int64
	running bool
	// seen holds when each existing snapshot was first seen.
	seen map[uint64]time.Time
}

func (s *snapshotSchedule) grew(entries, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries += uint64(entries)
	s.bytes += int64(bytes)
}

// reset says that the snapshot of a version exists and what is left to follow it.
func (s *snapshotSchedule) reset(entriesSince uint64, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size, s.entries, s.bytes = size, entriesSince, 0
}

// begin reports whether a snapshot is due and nobody writes it; the caller does so now and calls end.
func (s *snapshotSchedule) begin(options *Options) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	enough := s.entries >= options.SnapshotEntries || s.bytes >= options.SnapshotBytes
	worthwhile := s.bytes >= s.size/8 || s.entries >= 10*options.SnapshotEntries
	if s.running || !enough || !worthwhile {
		return false
	}
	s.running = true
	return true
}

func (s *snapshotSchedule) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
}

// note remembers which snapshots exist and forgets the others.
func (s *snapshotSchedule) note(versions []uint64, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := make(map[uint64]time.Time, len(versions))
	for _, version := range versions {
		if since, ok := s.seen[version]; ok {
			seen[version] = since
		} else {
			seen[version] = now
		}
	}
	s.seen = seen
}

func (s *snapshotSchedule) seenSince(version uint64) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[version]
}

// snapshotIfDue writes a snapshot in the background when it is time. A failure costs nothing but the
// reading of more entries; it is tried again when the next entries have come.
func (l *commitLog[S]) snapshotIfDue() {
	if !l.snapshots.begin(&l.env.options) {
		return
	}
	started := l.env.start(func() {
		defer l.snapshots.end()
		if err := l.snapshot(l.env.ctx, l.env.options.SnapshotEntries/2); err != nil && l.env.ctx.Err() == nil {
			l.env.logger.Warn("writing a snapshot or removing what it replaces failed", "log", l.name, "error", err)
		}
	})
	if !started {
		l.snapshots.end()
	}
}

// snapshot writes out the current state, unless another process did so at most that many entries ago,
// and removes what is no longer needed.
func (l *commitLog[S]) snapshot(ctx context.Context, recent uint64) error {
	if err := acquire(ctx, l.env.snapshotting); err != nil {
		return err
	}
	defer release(l.env.snapshotting)
	h := l.current.Load()
	if h == nil || h.version == 0 {
		return nil
	}
	versions, err := l.snapshotVersions(ctx)
	if err != nil {
		return err
	}
	if len(versions) > 0 {
		if newest := versions[len(versions)-1]; newest+recent >= h.version {
			l.snapshots.reset(h.version-min(newest, h.version), 0)
			return l.trim(ctx, versions)
		}
	}
	var counter countingWriter
	err = l.env.bucket.CreateFrom(ctx, l.keys.snapshot(h.version), func(w io.Writer) error {
		counter = countingWriter{w: w}
		return writeSealed(&counter, func(w io.Writer) error { return l.codec.write(w, h) })
	})
	if err != nil && !errors.Is(err, errExists) {
		l.snapshots.reset(0, counter.n)
		return fmt.Errorf("creating object %s: %w", l.keys.snapshot(h.version), err)
	}
	l.snapshots.reset(l.current.Load().versionOr(h.version)-h.version, counter.n)
	if versions, err = l.snapshotVersions(ctx); err != nil {
		return err
	}
	return l.trim(ctx, versions)
}

func (h *head[S]) versionOr(version uint64) uint64 {
	if h == nil {
		return version
	}
	return max(h.version, version)
}

func (l *commitLog[S]) snapshotVersions(ctx context.Context) ([]uint64, error) {
	names, err := l.env.bucket.List(ctx, l.keys.snapshots())
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", l.keys.snapshots(), err)
	}
	versions := parseVersions(names)
	l.snapshots.note(versions, l.env.clock())
	return versions, nil
}

// readSnapshot reads the snapshot of a version.
func (l *commitLog[S]) readSnapshot(ctx context.Context, version uint64) (*head[S], int64, error) {
	r, err := l.env.bucket.Open(ctx, l.keys.snapshot(version))
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	sealed := &sealReader{r: bufio.NewReaderSize(r, 256<<10)}
	h, err := l.codec.read(sealed)
	if err == nil && h.version != version {
		err = fmt.Errorf("log_version is %d; by its name it must be %d", h.version, version)
	}
	if err == nil {
		err = l.check(h.state)
	}
	if err != nil {
		return nil, 0, err
	}
	return h, sealed.read, nil
}

// writeSealed writes an object, which write leaves without its last brace, with its checksum.
func writeSealed(w io.Writer, write func(io.Writer) error) error {
	sealed := &sealWriter{w: w}
	buffered := bufio.NewWriterSize(sealed, 256<<10)
	if err := write(buffered); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	return sealed.close()
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
