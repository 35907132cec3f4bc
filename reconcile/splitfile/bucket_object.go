package splitfile

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strconv"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// BucketObject is a RangeReader of an object in a bucket. Its versions are the times of the object's
// last modification, the only ones that every storage sends along with a range.
type BucketObject struct {
	Bucket *blob.Bucket
	Key    string
}

var _ RangeReader = BucketObject{}

// ReadRange implements RangeReader with one request.
func (o BucketObject) ReadRange(ctx context.Context, offset, length int64) (answer Range, err error) {
	reader, err := o.Bucket.NewRangeReader(ctx, o.Key, offset, length, nil)
	if err != nil {
		if gcerrors.Code(err) == gcerrors.NotFound {
			err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
		}
		return Range{}, err
	}
	defer func() {
		if closing := reader.Close(); err == nil && closing != nil {
			answer, err = Range{}, closing
		}
	}()
	data := make([]byte, available(offset, length, reader.Size()))
	if _, err := io.ReadFull(reader, data); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return Range{}, err
	}
	answer = Range{Data: data, Size: reader.Size()}
	if modified := reader.ModTime(); !modified.IsZero() {
		answer.Version = strconv.FormatInt(modified.UnixNano(), 10)
	}
	return answer, nil
}
