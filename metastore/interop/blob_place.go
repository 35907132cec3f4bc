package interop

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// blobPlace is a bucket of an object storage service, or a prefix of one.
type blobPlace struct{ bucket *blob.Bucket }

var _ place = blobPlace{}

func (b blobPlace) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	r, err := b.bucket.NewReader(ctx, key, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, 0, errAbsent
	}
	if err != nil {
		return nil, 0, err
	}
	return r, r.Size(), nil
}

func (b blobPlace) Create(ctx context.Context, key string, data []byte) error {
	err := b.bucket.WriteAll(ctx, key, data, &blob.WriterOptions{IfNotExist: true, ContentType: "application/json", DisableContentTypeDetection: true})
	if gcerrors.Code(err) == gcerrors.FailedPrecondition {
		return errPresent
	}
	return err
}

func (b blobPlace) Replace(ctx context.Context, key string, write func(io.Writer) error) error {
	// Cancelling is how an upload is given up.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := b.bucket.NewWriter(ctx, key, &blob.WriterOptions{ContentType: "application/json", DisableContentTypeDetection: true, BufferSize: 16 << 20, MaxConcurrency: 2})
	if err != nil {
		return err
	}
	if err := write(w); err != nil {
		cancel()
		_ = w.Close() // always an error, because of the cancel
		return err
	}
	return w.Close()
}

func (b blobPlace) Delete(ctx context.Context, key string) error {
	err := b.bucket.Delete(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return err
}

func (b blobPlace) Directories(ctx context.Context) ([]string, error) {
	var names []string
	objects := b.bucket.List(&blob.ListOptions{Delimiter: "/"})
	for {
		object, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			slices.Sort(names)
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		if object.IsDir {
			names = append(names, strings.TrimSuffix(object.Key, "/"))
		}
	}
}

func (b blobPlace) Close() error { return b.bucket.Close() }
