package file

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// probe proves that the storage refuses to create an object twice, because nothing here is safe on
// one that does not.
func probe(ctx context.Context, b bucket) (err error) {
	key := logDirectory + "probe-" + uuid.NewString()
	if err := b.Create(ctx, key, []byte("{}")); err != nil {
		return fmt.Errorf("opening the file store: creating object %s, to find out whether the storage can be used: %w", key, err)
	}
	defer func() {
		if deleteErr := b.Delete(ctx, key); err == nil && deleteErr != nil {
			err = fmt.Errorf("opening the file store: removing object %s: %w", key, deleteErr)
		}
	}()
	err = b.Create(ctx, key, []byte("[]"))
	switch {
	case err == nil:
		return errors.New("opening the file store: the storage let an object be created twice: it ignores the condition that there is none " +
			"(If-None-Match: *), so two writers could overwrite each other; this storage cannot be used")
	case !errors.Is(err, errExists):
		return fmt.Errorf("opening the file store: creating object %s a second time: the storage must say that it exists, but said: %w", key, err)
	}
	text, err := b.Read(ctx, key, maxEntryBytes)
	if err != nil {
		return fmt.Errorf("opening the file store: reading object %s, just created: %w", key, err)
	}
	if string(text) != "{}" {
		return fmt.Errorf("opening the file store: object %s was changed by a second attempt to create it; this storage cannot be used", key)
	}
	if _, err := b.Read(ctx, key+"-absent", maxEntryBytes); !errors.Is(err, errNotExist) {
		return fmt.Errorf("opening the file store: reading an object that does not exist: the storage must say so, but said: %w", err)
	}
	return nil
}

// refuseForeignStore fails if the place, which a URL names, holds a file-backed store of Quickwit's and none of ours.
func refuseForeignStore(ctx context.Context, b bucket, location string) error {
	for _, name := range []string{"manifest.json", "indexes_states.json"} {
		r, err := b.Open(ctx, name)
		if errors.Is(err, errNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("opening the file store: looking for object %s: %w", name, err)
		}
		if err := r.Close(); err != nil {
			return fmt.Errorf("opening the file store: looking for object %s: %w", name, err)
		}
		entries, err := b.List(ctx, logDirectory)
		if err != nil {
			return fmt.Errorf("opening the file store: listing %s: %w", logDirectory, err)
		}
		if len(parseVersions(entries)) == 0 {
			return fmt.Errorf("opening the file store: the place holds a file-backed metastore of Quickwit (object %s), which is left alone; "+
				"to copy it, stop Quickwit and run: %s", name, importCommand(location))
		}
	}
	return nil
}

// importCommand is the command that copies a store of Quickwit's to a place beside it. Parameters of the URL are left
// out, because they may hold secrets.
func importCommand(location string) string {
	from, parameters, _ := strings.Cut(location, "?")
	if parameters != "" {
		parameters = "?..."
	}
	to := strings.TrimRight(from, "/") + "-holdfast"
	if _, rest, isURL := strings.Cut(from, "://"); isURL && !strings.Contains(strings.TrimRight(rest, "/"), "/") {
		to = strings.TrimRight(from, "/") + "/holdfast" // beside a bucket there is nothing
	}
	quote := func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
	return "metastore import --from " + quote(from+parameters) + " --store " + quote(to+parameters)
}
