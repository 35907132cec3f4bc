package reconcile

import (
	"context"
	"fmt"
	"strings"
)

// listing is what lies in the directory of an index.
type listing struct {
	splits []Entry // names end with ".split"
	bytes  int64   // of the splits
	// others counts what is no split file, by what it is; see otherKind.
	others map[string]int64
}

const splitSuffix = ".split"

// list reads the whole directory. A listing that fails halfway is an error, never a short listing.
func list(ctx context.Context, bucket Bucket, progress func(found int64)) (*listing, error) {
	l := &listing{others: map[string]int64{}}
	err := bucket.List(ctx, func(entry Entry) error {
		if kind := otherKind(entry); kind != "" {
			l.others[kind]++
			return nil
		}
		l.splits = append(l.splits, entry)
		l.bytes += entry.Size
		if progress != nil {
			progress(int64(len(l.splits)))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the objects (%d found until then, which proves nothing about the others): %w", len(l.splits), err)
	}
	return l, nil
}

// otherKind says what an entry is that is no split file; empty for a split file.
func otherKind(entry Entry) string {
	switch name := entry.Name; {
	case entry.IsDir:
		return "directory"
	case strings.HasPrefix(name, ".tmp"):
		return "temporary file"
	case strings.HasSuffix(name, splitSuffix) && len(name) > len(splitSuffix):
		return ""
	case name == "metastore.json":
		return "metastore.json"
	case strings.HasSuffix(name, ".parquet"):
		return "parquet split"
	default:
		return "other file"
	}
}
