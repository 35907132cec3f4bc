package file

import (
	"context"
	"errors"
	"fmt"
)

// trim removes entries that two snapshots cover together with the entry behind, and snapshots that two newer ones follow,
// in the order and after the time that the package comment asks for. The versions are those of all snapshots, ascending.
func (l *commitLog[S]) trim(ctx context.Context, snapshots []uint64) error {
	floor := uint64(0)
	for _, version := range snapshots[:max(len(snapshots)-1, 0)] {
		if l.env.elapsed(l.snapshots.seenSince(version)) >= l.env.removalAge {
			floor = version
		}
	}
	if floor < 2 {
		return nil
	}
	if err := l.trimEntries(ctx, floor-1); err != nil {
		return err
	}
	if err := l.trimImports(ctx, floor-1); err != nil {
		return err
	}
	for _, version := range snapshots {
		if version >= floor {
			break
		}
		if err := l.env.bucket.Delete(ctx, l.keys.snapshot(version)); err != nil {
			return fmt.Errorf("removing object %s: %w", l.keys.snapshot(version), err)
		}
	}
	return nil
}

// trimEntries removes the entries up to floor, one by one in ascending order.
func (l *commitLog[S]) trimEntries(ctx context.Context, floor uint64) error {
	names, err := l.env.bucket.List(ctx, l.keys.entries())
	if err != nil {
		return fmt.Errorf("listing %s: %w", l.keys.entries(), err)
	}
	entries := parseVersions(names)
	if len(entries) == 0 || entries[0] > floor {
		return nil
	}
	first := entries[0]
	if first > 1 {
		// The listing may be incomplete; the order of removal must hold nevertheless.
		_, err := l.env.bucket.Read(ctx, l.keys.entry(first-1), maxEntryBytes)
		if err == nil {
			return fmt.Errorf("removing entries up to object %s: object %s exists but is not listed", l.keys.entry(floor), l.keys.entry(first-1))
		}
		if !errors.Is(err, errNotExist) {
			return fmt.Errorf("reading object %s: %w", l.keys.entry(first-1), err)
		}
	}
	err = l.env.bucket.Create(ctx, l.keys.trimmed(), []byte(`{"about":"entries were removed from this log; snapshots replace them"}`))
	if err != nil && !errors.Is(err, errExists) {
		return fmt.Errorf("creating object %s: %w", l.keys.trimmed(), err)
	}
	for version := first; version <= floor; version++ {
		if err := l.env.bucket.Delete(ctx, l.keys.entry(version)); err != nil {
			return fmt.Errorf("removing object %s: %w", l.keys.entry(version), err)
		}
	}
	return nil
}
