package reconcile

import (
	"context"
	"errors"

	"holdfast/metastore"
	"holdfast/reconcile/splitfile"
)

// withFile opens a split file, calls do, and counts all that was read. What opening the file read is
// not read again in do.
func withFile(ctx context.Context, bucket Bucket, entry Entry, adaptive *splitfile.Adaptive, stats *ReadStats, do func(*splitfile.File) error) error {
	reader, done, err := bucket.Open(ctx, entry.Name)
	if err != nil {
		return err
	}
	file, err := splitfile.Open(ctx, countingReader{reader, stats}, splitfile.Options{
		SplitID: splitIDOf(entry.Name), Size: metastore.Some(entry.Size), Adaptive: adaptive, Keep: true,
	})
	if err == nil {
		err = do(file)
	}
	return errors.Join(err, done())
}

// countingReader counts requests and bytes.
type countingReader struct {
	splitfile.RangeReader
	stats *ReadStats
}

// ReadRange implements splitfile.RangeReader.
func (r countingReader) ReadRange(ctx context.Context, offset, length int64) (splitfile.Range, error) {
	answer, err := r.RangeReader.ReadRange(ctx, offset, length)
	r.stats.Requests++
	r.stats.Bytes += int64(len(answer.Data))
	return answer, err
}
