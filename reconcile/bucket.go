package reconcile

import (
	"context"
	"errors"
	"time"

	"holdfast/reconcile/splitfile"
)

// Bucket is one directory of split files. Nothing is ever written to it.
type Bucket interface {
	// List calls visit for every entry directly in the directory, in any order, and returns the first
	// error of visit unchanged. An error means that the listing is not complete and proves nothing. A
	// directory that is not there is an error that wraps fs.ErrNotExist, where the storage knows
	// directories; elsewhere it is empty.
	List(ctx context.Context, visit func(Entry) error) error
	// Open returns a reader of an object, and a function to call when it is not needed any more.
	Open(ctx context.Context, name string) (splitfile.RangeReader, func() error, error)
	// Stat looks an object up. One that is not there is an error that wraps fs.ErrNotExist.
	Stat(ctx context.Context, name string) (Entry, error)
	// Close releases what the bucket holds.
	Close() error
}

// Entry is one entry of a directory.
type Entry struct {
	Name     string // without the directory
	IsDir    bool   // the other fields are zero then
	Size     int64  // bytes
	Modified time.Time
	ETag     string // empty if the storage has none
}

// errStop ends a listing early.
var errStop = errors.New("stop the listing")
