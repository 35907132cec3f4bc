package file

import (
	"context"
	"errors"
	"io"
)

// bucket is the storage below a store: objects under keys whose parts are joined by slashes. Methods
// are safe for concurrent use. Errors other than the sentinels leave open whether the call had its
// effect.
type bucket interface {
	// Create stores an object whole and durably, or fails with errExists and changes nothing if there
	// is one. Of several calls for one key exactly one can succeed.
	Create(ctx context.Context, key string, data []byte) error

	// CreateFrom is Create for objects that should not be held in memory. Nothing is stored if write
	// fails; its error is returned.
	CreateFrom(ctx context.Context, key string, write func(io.Writer) error) error

	// Read returns an object, which must not be greater than limit bytes. It fails with errNotExist.
	Read(ctx context.Context, key string, limit int64) ([]byte, error)

	// Open reads an object from its beginning. It fails with errNotExist.
	Open(ctx context.Context, key string) (io.ReadCloser, error)

	// Delete removes an object. One that does not exist is no error.
	Delete(ctx context.Context, key string) error

	// List returns the names of the objects directly in a directory, which ends in a slash, in
	// ascending order. A directory that does not exist is empty.
	List(ctx context.Context, directory string) ([]string, error)

	// Settle makes an object durable that was seen but perhaps not yet reported to its writer.
	Settle(ctx context.Context, key string) error

	Close() error
}

var (
	errExists    = errors.New("the object exists already")
	errNotExist  = errors.New("the object does not exist")
	errForbidden = errors.New("access is denied")
	errTooLarge  = errors.New("the object is larger than expected")
)

// readLimited reads at most limit bytes.
func readLimited(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, errTooLarge
	}
	return data, err
}
