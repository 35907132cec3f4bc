package splitfile

import (
	"cmp"

	"holdfast/metastore"
)

// Options say what is known about a split file before it is opened, and the caps.
type Options struct {
	// SplitID is the name of the object without its directory and the suffix ".split"; SplitID of this
	// package gets it from a key. It is required: the recovery entry must name the same split.
	SplitID string
	// Size is the size of the object in bytes, from the listing. If it is absent a file that is longer
	// than the tail costs one more read.
	Size metastore.Optional[int64]
	// TailSize is how many bytes the first read takes from the end. 0 means 64 KiB. It is at least
	// 64 bytes and at most 16 MiB.
	TailSize int64
	// Keep keeps what opening the file read, as long as the File is kept: later reads of these bytes take
	// no request.
	Keep bool
	// Adaptive learns how large the reads should be. Nil means that they are as TailSize says.
	Adaptive *Adaptive
	// Limits are the caps on the lengths that the file states.
	Limits Limits
}

// Limits are caps on lengths that a split file states. 0 means the default. A file beyond a cap is
// refused with a FormatError.
type Limits struct {
	BundleMetadata int64 // bytes of the bundle metadata, default 16 MiB
	RecoveryEntry  int64 // bytes of the recovery entry, default 1 MiB
	Entries        int   // bundled files, default 10,000; real files have about ten
}

const (
	defaultTailSize = 64 << 10
	minTailSize     = 64
	maxTailSize     = 16 << 20
	// backSize is how much in front of the bundle metadata's end the second read takes: the metadata
	// and, nearly always, the recovery entry in front of it.
	backSize = 32 << 10
	// entrySlack is what is read in front of the bundle metadata, for the recovery entry.
	entrySlack = 16 << 10
	// maxRestarts is how often a file that changes is read anew.
	maxRestarts = 2
)

func (l Limits) withDefaults() Limits {
	return Limits{
		BundleMetadata: cmp.Or(l.BundleMetadata, 16<<20),
		RecoveryEntry:  cmp.Or(l.RecoveryEntry, 1<<20),
		Entries:        cmp.Or(l.Entries, 10_000),
	}
}

func (o *Options) sizes() (tail, back int64) {
	tail, back = cmp.Or(o.TailSize, defaultTailSize), backSize
	if o.Adaptive != nil {
		tail, back = o.Adaptive.sizes(tail, back)
	}
	return min(max(tail, minTailSize), maxTailSize), back
}
