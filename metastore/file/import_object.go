package file

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"holdfast/metastore"
)

// importDirectory holds the states that entries bring in, see importOp.
const importDirectory = "_import/"

func (k logKeys) imports() string { return k.prefix + importDirectory }

func (k logKeys) imported(version uint64, writeID uuid.UUID) string {
	return fmt.Sprintf("%s%0*d-%s%s", k.imports(), versionDigits, version, writeID, objectSuffix)
}

// importedVersion returns the version that the name of an object in the directory of imports begins with; ok is
// false for other names.
func importedVersion(name string) (version uint64, ok bool) {
	digits, _, found := strings.Cut(name, "-")
	if !found || len(digits) != versionDigits || !strings.HasSuffix(name, objectSuffix) {
		return 0, false
	}
	version, err := strconv.ParseUint(digits, 10, 64)
	return version, err == nil
}

// step applies an entry to a head that is being built.
func (l *commitLog[S]) step(ctx context.Context, h *head[S], e *entry) error {
	if !e.isImport() {
		return l.applyRead(h.state, e)
	}
	imported, err := l.readImport(ctx, e.version, e.writeID)
	if err != nil {
		return err
	}
	h.state = imported.state
	return nil
}

// writeImport writes the state that an entry is to bring in.
func (l *commitLog[S]) writeImport(ctx context.Context, h *head[S]) error {
	key := l.keys.imported(h.version, h.writeID)
	err := l.env.bucket.CreateFrom(ctx, key, func(w io.Writer) error {
		return writeSealed(w, func(w io.Writer) error { return l.codec.write(w, h) })
	})
	if err != nil {
		return l.storageError(err, "creating", key)
	}
	return nil
}

// readImport reads the state that an entry brings in.
func (l *commitLog[S]) readImport(ctx context.Context, version uint64, writeID uuid.UUID) (*head[S], error) {
	key := l.keys.imported(version, writeID)
	damaged := func(err error) error {
		return metastore.Internal(err, "the log of %s is damaged: object %s", l.name, key)
	}
	r, err := l.env.bucket.Open(ctx, key)
	if errors.Is(err, errNotExist) {
		return nil, damaged(err)
	}
	if err != nil {
		return nil, l.storageError(err, "reading", key)
	}
	defer r.Close()
	tracked := &trackedReader{r: r}
	h, err := l.codec.read(&sealReader{r: bufio.NewReaderSize(tracked, 256<<10)})
	switch {
	case tracked.err != nil:
		return nil, l.storageError(tracked.err, "reading", key)
	case err != nil:
		return nil, damaged(err)
	case h.version != version || h.writeID != writeID:
		return nil, damaged(fmt.Errorf("it is of version %d and write id %s", h.version, h.writeID))
	}
	if err := l.check(h.state); err != nil {
		return nil, damaged(err)
	}
	return h, nil
}

// trimImports removes the objects of entries up to floor, which are removed.
func (l *commitLog[S]) trimImports(ctx context.Context, floor uint64) error {
	names, err := l.env.bucket.List(ctx, l.keys.imports())
	if err != nil {
		return fmt.Errorf("listing %s: %w", l.keys.imports(), err)
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		version, ok := importedVersion(name)
		return !ok || version > floor
	})
	for _, name := range names {
		if err := l.env.bucket.Delete(ctx, l.keys.imports()+name); err != nil {
			return fmt.Errorf("removing object %s: %w", l.keys.imports()+name, err)
		}
	}
	return nil
}

// trackedReader tells the failures of the storage from those of whoever reads what it holds.
type trackedReader struct {
	r   io.Reader
	err error
}

func (t *trackedReader) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		t.err = err
	}
	return n, err
}
