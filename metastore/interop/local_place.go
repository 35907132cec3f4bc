package interop

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// localPlace is a directory. Objects are written to a temporary file beside them, synced and renamed, as Quickwit does, and
// the directory is synced.
type localPlace struct{ root string }

var _ place = localPlace{}

func (l localPlace) path(key string) string { return filepath.Join(l.root, filepath.FromSlash(key)) }

func (l localPlace) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	file, err := os.Open(l.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, errAbsent
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errAbsent // to Quickwit too, only a regular file is an object
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

func (l localPlace) Create(ctx context.Context, key string, data []byte) error {
	return l.write(ctx, key, os.Link, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

func (l localPlace) Replace(ctx context.Context, key string, write func(io.Writer) error) error {
	return l.write(ctx, key, os.Rename, write)
}

// write writes a temporary file and gives it its name.
func (l localPlace) write(ctx context.Context, key string, name func(from, to string) error, write func(io.Writer) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	directory := filepath.Dir(l.path(key))
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(directory, ".tmp-holdfast-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // renamed, or of no use
	buffered := bufio.NewWriterSize(file, 256<<10)
	if err = write(buffered); err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = file.Chmod(0o644)
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	err = name(file.Name(), l.path(key))
	if errors.Is(err, fs.ErrExist) {
		return errPresent
	}
	if err != nil {
		return err
	}
	return errors.Join(syncDirectory(directory), syncDirectory(filepath.Dir(directory)))
}

func syncDirectory(directory string) error {
	file, err := os.Open(directory)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

func (l localPlace) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := os.Remove(l.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (l localPlace) Directories(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(l.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, entry := range entries {
		// A link may be one to a directory; whether it is shows when an object is looked for in it.
		if entry.IsDir() || entry.Type()&fs.ModeSymlink != 0 {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

func (localPlace) Close() error { return nil }
