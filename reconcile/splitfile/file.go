package splitfile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"holdfast/metastore"
)

// File is a split file that was opened. It keeps the reader it was opened with.
type File struct {
	SplitID string
	Layout  Layout
	// Entries are the bundled files in the order of their places in the body.
	Entries []Entry
	// Warnings are what is unusual about the file but stands in the way of nothing.
	Warnings []Warning
	// Reads and BytesRead are what opening the file took, restarts included.
	Reads     int
	BytesRead int64

	fetch    *fetcher
	recovery *recovery
	unusable error // why there is no recovery although there is an entry
	hasEntry bool
}

// Warning is a deviation that is accepted.
type Warning struct {
	Field   string
	Problem string
}

// SplitID returns the split id in the key of an object, the part behind the last slash without the
// suffix ".split". ok is false if the key names no split file.
func SplitID(key string) (id string, ok bool) {
	id, ok = strings.CutSuffix(key[strings.LastIndexByte(key, '/')+1:], ".split")
	return id, ok && id != ""
}

// IsLegacy reports whether the file has no recovery entry.
func (f *File) IsLegacy() bool { return !f.hasEntry }

// Metadata returns the row of the split and the splits that it replaces, none for one that came from
// an indexer. The index UID, the create timestamp and the delete opstamp are those of the time when the
// file was written; the metastore may have raised the opstamp since.
//
// It fails with ErrLegacy, or with a FormatError if the split cannot be recovered from the file as it
// is: the entry is malformed or names another split, or the file lacks meta.json and cannot be searched.
func (f *File) Metadata() (m metastore.SplitMetadata, parents []string, err error) {
	m, parents, err = f.RecoveryEntry()
	if err == nil {
		err = f.searchable()
	}
	if err != nil {
		return metastore.SplitMetadata{}, nil, err
	}
	return m, parents, nil
}

// RecoveryEntry returns what the recovery entry says, as Metadata does, even if nothing can search the
// split.
func (f *File) RecoveryEntry() (m metastore.SplitMetadata, parents []string, err error) {
	if !f.hasEntry {
		return metastore.SplitMetadata{}, nil, ErrLegacy
	}
	if f.unusable != nil {
		return metastore.SplitMetadata{}, nil, f.unusable
	}
	return f.recovery.metadata, slices.Clone(f.recovery.parents), nil
}

// Legacy is what the footer of a legacy file says.
type Legacy struct {
	FooterStart uint64 // offset of the footer
	FooterEnd   uint64 // size of the file
	Entries     []Entry
}

// Legacy returns what is known of a legacy file without reading its body. It fails with a FormatError
// if the file lacks meta.json and cannot be searched, or is not a legacy file.
func (f *File) Legacy() (Legacy, error) {
	if f.hasEntry {
		entry, _ := f.Entry(RecoveryEntryName)
		return Legacy{}, f.named(fault(fileField(RecoveryEntryName), entry.Start, "", "is there: the file is not a legacy file"))
	}
	if err := f.searchable(); err != nil {
		return Legacy{}, err
	}
	return Legacy{FooterStart: uint64(f.Layout.FooterStart), FooterEnd: uint64(f.Layout.Size), Entries: slices.Clone(f.Entries)}, nil
}

func (f *File) searchable() error {
	if _, ok := f.Entry(MetaJSONName); !ok {
		return f.named(fault(fileField(MetaJSONName), f.Layout.FooterStart, "", "is missing: the split cannot be searched"))
	}
	return nil
}

// Entry returns a bundled file.
func (f *File) Entry(name string) (Entry, bool) {
	i := slices.IndexFunc(f.Entries, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return Entry{}, false
	}
	return f.Entries[i], true
}

// ReadEntry reads a bundled file, of at most limit bytes. An empty one is read without a request.
func (f *File) ReadEntry(ctx context.Context, name string, limit int64) ([]byte, error) {
	entry, ok := f.Entry(name)
	if !ok {
		return nil, f.named(fault(fileField(name), f.Layout.FooterStart, "", "is missing"))
	}
	if entry.Len() > limit {
		return nil, f.named(fault(fileField(name), entry.Start, "", "has %d bytes; at most %d are allowed", entry.Len(), limit))
	}
	return f.ReadRange(ctx, entry.Start, entry.End)
}

// ReadRange reads the bytes [start, end) of the file, which must lie within it. It fails with a
// ChangedError if the file is not the one that was opened.
func (f *File) ReadRange(ctx context.Context, start, end int64) ([]byte, error) {
	if start < 0 || start > end || end > f.Layout.Size {
		return nil, fmt.Errorf("split file %s: [%d,%d) is no range of its %d bytes", clip(f.SplitID), start, end, f.Layout.Size)
	}
	fetch := *f.fetch
	fetch.ctx = ctx
	return fetch.get(start, end, start)
}

// named tells a FormatError which file it is about.
func (f *File) named(err error) error { return named(err, f.SplitID) }

func named(err error, splitID string) error {
	var format *FormatError
	if errors.As(err, &format) {
		format.SplitID = splitID
	}
	return err
}
