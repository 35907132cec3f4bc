package file

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	temporaryPrefix = ".tmp-"
	// temporaryMaxAge is how long a temporary file may be in use; an older one was left by a crash.
	temporaryMaxAge = 24 * time.Hour
)

// localDir is a bucket in a local directory. An object is written to a temporary file, synced, and
// linked to its name, which fails if the name is taken; then the directory is synced.
type localDir struct {
	root string
	// readOnly keeps listings from removing what crashes left behind. Nobody calls what writes then.
	readOnly bool

	mu sync.Mutex
	// ready holds the directories that were created, or found, and synced into their parents.
	ready map[string]bool
}

var _ bucket = (*localDir)(nil)

func openLocalDir(root string) (*localDir, error) {
	absolute, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	d := &localDir{root: absolute, ready: map[string]bool{}}
	return d, d.makeDirectory(absolute)
}

// openLocalDirReadOnly opens a directory that exists.
func openLocalDirReadOnly(root string) (*localDir, error) {
	absolute, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(absolute)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", absolute)
	}
	return &localDir{root: absolute, readOnly: true, ready: map[string]bool{}}, nil
}

func (d *localDir) path(key string) string { return filepath.Join(d.root, filepath.FromSlash(key)) }

func (d *localDir) Create(ctx context.Context, key string, data []byte) error {
	return d.CreateFrom(ctx, key, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

func (d *localDir) CreateFrom(ctx context.Context, key string, write func(io.Writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	target := d.path(key)
	// Most losers are found here, before they pay for a synced file.
	if _, err := os.Lstat(target); err == nil {
		return errExists
	}
	directory := filepath.Dir(target)
	if err := d.makeDirectory(directory); err != nil {
		return err
	}
	temporary, err := d.writeTemporary(directory, write)
	if err != nil {
		return localError(err)
	}
	err = os.Link(temporary, target)
	// A temporary file that cannot be removed now is removed when it is old.
	_ = os.Remove(temporary)
	if errors.Is(err, fs.ErrExist) {
		return errExists
	}
	if err != nil {
		return localError(err)
	}
	return syncDirectory(directory)
}

func (d *localDir) writeTemporary(directory string, write func(io.Writer) error) (name string, err error) {
	var suffix [12]byte
	_, _ = rand.Read(suffix[:]) // never fails
	name = filepath.Join(directory, temporaryPrefix+hex.EncodeToString(suffix[:]))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", err
	}
	w := bufio.NewWriterSize(f, 64<<10)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(name)
		return "", err
	}
	return name, nil
}

// makeDirectory creates a directory with its parents and makes their names durable.
func (d *localDir) makeDirectory(directory string) error {
	d.mu.Lock()
	known := d.ready[directory]
	d.mu.Unlock()
	if known {
		return nil
	}
	created := false
	if info, err := os.Stat(directory); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return localError(err)
		}
		if parent := filepath.Dir(directory); parent != directory {
			if err := d.makeDirectory(parent); err != nil {
				return err
			}
		}
		if err := os.Mkdir(directory, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return localError(err)
		}
		created = true
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", directory)
	}
	// One that another process has just created may not be durable yet either. What lies above the
	// root is not ours to sync, unless we created it.
	if created || strings.HasPrefix(directory, d.root) {
		if err := syncDirectory(filepath.Dir(directory)); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ready[directory] = true
	return nil
}

func (d *localDir) Read(ctx context.Context, key string, limit int64) ([]byte, error) {
	r, err := d.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readLimited(r, limit)
}

func (d *localDir) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path := d.path(key)
	// Opening costs more than asking for the status, and most objects asked for do not exist.
	if _, err := os.Lstat(path); err != nil {
		return nil, localError(err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, localError(err)
	}
	return f, nil
}

func (d *localDir) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.Remove(d.path(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return localError(err)
	}
	return nil
}

func (d *localDir) List(ctx context.Context, directory string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path := d.path(directory)
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, localError(err)
	}
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		switch {
		case strings.HasPrefix(entry.Name(), temporaryPrefix):
			if !d.readOnly {
				removeIfOld(filepath.Join(path, entry.Name()), entry)
			}
		case entry.Type().IsRegular():
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// removeIfOld removes a temporary file that a crash has left. It is only housekeeping: what fails now
// is tried again at the next listing.
func removeIfOld(path string, entry fs.DirEntry) {
	info, err := entry.Info()
	if err == nil && time.Since(info.ModTime()) > temporaryMaxAge {
		_ = os.Remove(path)
	}
}

func (d *localDir) Settle(_ context.Context, key string) error {
	return syncDirectory(filepath.Dir(d.path(key)))
}

func (d *localDir) Close() error { return nil }

func syncDirectory(directory string) error {
	f, err := os.Open(directory)
	if err != nil {
		return localError(err)
	}
	defer f.Close()
	return f.Sync()
}

func localError(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errNotExist
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: %w", errForbidden, err)
	}
	return err
}
