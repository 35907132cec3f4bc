package file

import (
	"context"
	"fmt"
	"io"
)

// readOnlyBucket is a bucket that is never written. Nothing should try.
type readOnlyBucket struct{ bucket }

func (readOnlyBucket) Create(_ context.Context, key string, _ []byte) error {
	return readOnlyError("creating", key)
}

func (readOnlyBucket) CreateFrom(_ context.Context, key string, _ func(io.Writer) error) error {
	return readOnlyError("creating", key)
}

func (readOnlyBucket) Delete(_ context.Context, key string) error {
	return readOnlyError("removing", key)
}

func readOnlyError(doing, key string) error {
	return fmt.Errorf("%s object %s: the store is opened read-only: %w", doing, key, errForbidden)
}
