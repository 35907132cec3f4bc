package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"holdfast/reconcile/splitfile"
)

// localBucket is a directory of the local file system. It is read as it is: without the escaping of
// names and the sidecar files that bucket libraries add to directories.
type localBucket struct{ dir string }

const listChunk = 1024

func (b localBucket) List(ctx context.Context, visit func(Entry) error) (err error) {
	dir, err := os.Open(b.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	for {
		children, err := dir.ReadDir(listChunk)
		for _, child := range children {
			entry, err := b.Stat(ctx, child.Name())
			if errors.Is(err, fs.ErrNotExist) && child.Type()&fs.ModeSymlink == 0 {
				continue // it was removed meanwhile
			}
			if err != nil {
				return err
			}
			if err := visit(entry); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (b localBucket) Open(_ context.Context, name string) (splitfile.RangeReader, func() error, error) {
	file, err := splitfile.OpenLocalFile(filepath.Join(b.dir, name))
	if err != nil {
		return nil, nil, err
	}
	return file, file.Close, nil
}

func (b localBucket) Stat(ctx context.Context, name string) (Entry, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, err
	}
	info, err := os.Stat(filepath.Join(b.dir, name))
	if err != nil {
		return Entry{}, err
	}
	if info.IsDir() {
		return Entry{Name: name, IsDir: true}, nil
	}
	if !info.Mode().IsRegular() {
		return Entry{}, fmt.Errorf("%s is not a regular file", filepath.Join(b.dir, name))
	}
	return Entry{Name: name, Size: info.Size(), Modified: info.ModTime()}, nil
}

func (b localBucket) Close() error { return nil }
