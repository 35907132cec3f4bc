package splitfile

import (
	"context"
	"errors"
)

// Open finds the footer of a split file and reads its bundle metadata and its recovery entry.
//
// That it succeeds means that the parts of the file are where they should be; whether the split can be
// recovered is for File.Metadata to say, or File.Legacy. It reads the end of the file, which is nearly
// always all, and else once more what it needs in front of the hotcache; if the recovery entry is not
// at the end of the body, or longer than usual, once more again.
//
// A file that changes while it is read, or is not as long as Options.Size, is read anew twice, then
// ChangedError is returned. Some storages refuse a range behind the end of the object, though: a file
// that is shorter than Options.Size, or empty, may be a ReadError. The other errors are FormatError, ReadError, and one about options.
func Open(ctx context.Context, reader RangeReader, options Options) (*File, error) {
	if options.SplitID == "" {
		return nil, errors.New("open split file: the split id is missing")
	}
	size := int64(-1)
	if options.Size.Set {
		size = options.Size.Value
	}
	reads, bytes := 0, int64(0)
	for restarts := 0; ; restarts++ {
		fetch := &fetcher{ctx: ctx, reader: reader, splitID: options.SplitID, size: size}
		file, err := open(fetch, &options)
		reads += fetch.reads
		bytes += fetch.bytes
		var changed *ChangedError
		if errors.As(err, &changed) && restarts < maxRestarts {
			size = changed.NewSize
			continue
		}
		if err != nil {
			return nil, named(err, options.SplitID)
		}
		file.Reads, file.BytesRead = reads, bytes
		return file, nil
	}
}

func open(fetch *fetcher, options *Options) (*File, error) {
	limits := options.Limits.withDefaults()
	tail, back := options.sizes()
	if err := fetch.tail(tail); err != nil {
		return nil, err
	}
	layout, metadata, err := locate(fetch, limits, back)
	if err != nil {
		return nil, err
	}
	entries, err := parseBundle(metadata, layout.FooterStart+bundleHeaderSize, layout.FooterStart, limits)
	if err != nil {
		return nil, err
	}
	file := &File{SplitID: options.SplitID, Layout: layout, Entries: entries, fetch: fetch}
	needed := layout.FooterStart
	entry, ok := file.Entry(RecoveryEntryName)
	file.hasEntry = ok
	if untiled := checkTiling(entries, layout.FooterStart); untiled != nil {
		if ok {
			return nil, untiled
		}
		file.Warnings = append(file.Warnings, Warning{Field: untiled.Field, Problem: untiled.Problem})
	}
	if ok {
		needed = min(needed, entry.Start)
		if err := file.readRecovery(entry, limits); err != nil {
			return nil, err
		}
	}
	if options.Adaptive != nil {
		options.Adaptive.observe(layout.Size-needed, layout.BundleMetadata.End+lengthSize-needed)
	}
	fetch.ctx = nil
	if !options.Keep {
		fetch.segments = nil
	}
	return file, nil
}

// readRecovery reads and decodes the recovery entry. Only a failure to read it is an error; what is
// wrong with it is for Metadata to return.
func (f *File) readRecovery(entry Entry, limits Limits) error {
	if entry.Len() > limits.RecoveryEntry {
		f.unusable = f.named(fault("recovery entry length", entry.Start, number(entry.Len()), "is more than the %d bytes that are allowed", limits.RecoveryEntry))
		return nil
	}
	data, err := f.fetch.get(entry.Start, entry.End, entry.Start)
	if err != nil {
		return err
	}
	f.recovery, f.unusable = decodeRecovery(data, entry.Start, f.SplitID, &f.Layout)
	if f.unusable != nil {
		f.unusable = f.named(f.unusable)
		return nil
	}
	f.Warnings = append(f.Warnings, f.recovery.warnings...)
	return nil
}
