package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"holdfast/reconcile/splitfile"
)

// NewBlobBucket returns the directory prefix of a bucket. The prefix is empty or ends with a slash,
// so that a sibling whose name only begins alike is never listed. The bucket is closed with it.
func NewBlobBucket(bucket *blob.Bucket, prefix string) Bucket {
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	return &blobBucket{bucket: bucket, prefix: prefix}
}

type blobBucket struct {
	bucket *blob.Bucket
	prefix string
}

func (b *blobBucket) List(ctx context.Context, visit func(Entry) error) error {
	objects := b.bucket.List(&blob.ListOptions{Prefix: b.prefix, Delimiter: "/"})
	for {
		object, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		// The storage was asked for this prefix; what it answers besides is not believed.
		name, within := strings.CutPrefix(object.Key, b.prefix)
		if !within || name == "" {
			continue // the marker of the directory itself
		}
		entry := Entry{Name: name, Size: object.Size, Modified: object.ModTime, ETag: fmt.Sprintf("%x", object.MD5)}
		if object.IsDir || strings.Contains(name, "/") {
			name, _, _ = strings.Cut(name, "/")
			entry = Entry{Name: name, IsDir: true}
		}
		if err := visit(entry); err != nil {
			return err
		}
	}
}

func (b *blobBucket) Open(_ context.Context, name string) (splitfile.RangeReader, func() error, error) {
	return splitfile.BucketObject{Bucket: b.bucket, Key: b.prefix + name}, func() error { return nil }, nil
}

func (b *blobBucket) Stat(ctx context.Context, name string) (Entry, error) {
	attributes, err := b.bucket.Attributes(ctx, b.prefix+name)
	if err != nil {
		if gcerrors.Code(err) == gcerrors.NotFound {
			err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
		}
		return Entry{}, err
	}
	return Entry{Name: name, Size: attributes.Size, Modified: attributes.ModTime, ETag: fmt.Sprintf("%x", attributes.MD5)}, nil
}

func (b *blobBucket) Close() error { return b.bucket.Close() }
