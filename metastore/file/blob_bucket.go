package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
	"google.golang.org/api/googleapi"
)

// blobBucket is a bucket of an object storage service.
type blobBucket struct {
	bucket *blob.Bucket
}

var _ bucket = (*blobBucket)(nil)

func (b *blobBucket) Create(ctx context.Context, key string, data []byte) error {
	options := &blob.WriterOptions{
		IfNotExist:                  true,
		ContentType:                 "application/json",
		DisableContentTypeDetection: true,
		// One part: an upload in parts asks for the condition only when it is completed.
		BufferSize: max(len(data)+1, 5<<20),
	}
	return b.error(b.bucket.WriteAll(ctx, key, data, options))
}

func (b *blobBucket) CreateFrom(ctx context.Context, key string, write func(io.Writer) error) error {
	// Cancelling is how an upload is given up.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := b.bucket.NewWriter(ctx, key, &blob.WriterOptions{
		IfNotExist:                  true,
		ContentType:                 "application/json",
		DisableContentTypeDetection: true,
		BufferSize:                  16 << 20,
		MaxConcurrency:              2,
	})
	if err != nil {
		return b.error(err)
	}
	if err := write(w); err != nil {
		cancel()
		_ = w.Close() // always an error, because of the cancel
		return b.error(err)
	}
	return b.error(w.Close())
}

func (b *blobBucket) Read(ctx context.Context, key string, limit int64) ([]byte, error) {
	r, err := b.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := readLimited(r, limit)
	return data, b.error(err)
}

func (b *blobBucket) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	r, err := b.bucket.NewReader(ctx, key, nil)
	if err != nil {
		return nil, b.error(err)
	}
	return r, nil
}

func (b *blobBucket) Delete(ctx context.Context, key string) error {
	err := b.error(b.bucket.Delete(ctx, key))
	if errors.Is(err, errNotExist) {
		return nil
	}
	return err
}

func (b *blobBucket) List(ctx context.Context, directory string) ([]string, error) {
	var names []string
	objects := b.bucket.List(&blob.ListOptions{Prefix: directory, Delimiter: "/"})
	for {
		object, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			slices.Sort(names)
			return names, nil
		}
		if err != nil {
			return nil, b.error(err)
		}
		if !object.IsDir {
			names = append(names, strings.TrimPrefix(object.Key, directory))
		}
	}
}

func (b *blobBucket) Settle(context.Context, string) error { return nil }

func (b *blobBucket) Close() error { return b.bucket.Close() }

// error finds the sentinel for an error of the driver.
func (b *blobBucket) error(err error) error {
	switch gcerrors.Code(err) {
	case gcerrors.FailedPrecondition:
		return errExists
	case gcerrors.PermissionDenied:
		return fmt.Errorf("%w: %w", errForbidden, err)
	case gcerrors.NotFound:
		// The driver for GCS reports a denied access as not found.
		var denied *googleapi.Error
		if b.bucket.ErrorAs(err, &denied) && denied.Code == http.StatusForbidden {
			return fmt.Errorf("%w: %w", errForbidden, err)
		}
		return errNotExist
	}
	return err
}
