package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// target is a directory to reconcile with an index.
type target struct {
	// indexID is empty for a directory that was discovered: its files say which index it is.
	indexID  string
	name     string // the id, or the name of the directory
	location Location
	named    bool // by the caller
}

// targets finds the directories to reconcile, in the order of their names.
func (r *runner) targets(ctx context.Context) ([]target, error) {
	found := map[string]target{}
	for id, uri := range r.IndexURIs {
		at, err := ParseLocation(uri, r.StorageParameters)
		if err != nil {
			return nil, fmt.Errorf("the URI given for index %q: %w", id, err)
		}
		if len(r.IndexIDs) == 0 || slices.Contains(r.IndexIDs, id) {
			found[id] = target{id, id, at, true}
		}
	}
	ids := r.IndexIDs
	if len(ids) == 0 {
		for _, index := range r.indexes {
			ids = append(ids, index.IndexUID.IndexID)
		}
		for _, config := range r.IndexConfigs {
			ids = append(ids, config.IndexID)
		}
	}
	for _, id := range ids {
		if _, known := found[id]; known {
			continue
		}
		at, err := r.locate(id)
		if err != nil {
			return nil, err
		}
		found[id] = target{id, id, at, len(r.IndexIDs) > 0}
	}
	if r.Root != "" && len(r.IndexIDs) == 0 {
		if err := r.discover(ctx, found); err != nil {
			return nil, err
		}
	}
	targets := make([]target, 0, len(found))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		targets = append(targets, found[name])
	}
	return targets, nil
}

// locate says where the files of an index are.
func (r *runner) locate(id string) (Location, error) {
	if r.Root != "" {
		if err := indexconfig.ValidateIndexID(id); err != nil {
			return Location{}, fmt.Errorf("index %q: %w", id, err)
		}
		return r.root.Child(id), nil
	}
	uri := ""
	if index := r.index(id); index != nil && index.Config != nil {
		uri = index.Config.IndexURI
	} else if config := r.config(id); config != nil {
		uri = config.IndexURI
	}
	if uri == "" {
		return Location{}, fmt.Errorf("the metastore does not know index %q, so it cannot tell where its files are: name the bucket", id)
	}
	at, err := ParseLocation(uri, r.StorageParameters)
	if err != nil {
		return Location{}, fmt.Errorf("the URI of index %q: %w", id, err)
	}
	return at, nil
}

// discover adds the directories of the root that hold split files and belong to no known index.
func (r *runner) discover(ctx context.Context, found map[string]target) error {
	var names []string
	err := r.withBucket(ctx, r.root, func(bucket Bucket) error {
		return bucket.List(ctx, func(entry Entry) error {
			if entry.IsDir && !strings.HasPrefix(entry.Name, ".") {
				names = append(names, entry.Name)
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("list the directories of %s: %w", r.root, err)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		at := r.root.Child(name)
		if _, known := found[name]; known || taken(found, at) {
			continue
		}
		holds := false
		err := r.withBucket(ctx, at, func(bucket Bucket) error {
			return bucket.List(ctx, func(entry Entry) error {
				if otherKind(entry) == "" {
					holds = true
					return errStop
				}
				return nil
			})
		})
		if err != nil && !errors.Is(err, errStop) && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("look for split files in %s: %w", at, err)
		}
		if holds {
			found[name] = target{"", name, at, false}
		}
	}
	return nil
}

func taken(found map[string]target, at Location) bool {
	for _, t := range found {
		if t.location.Same(at) {
			return true
		}
	}
	return false
}

func (r *runner) withBucket(ctx context.Context, at Location, do func(Bucket) error) error {
	bucket, err := r.OpenBucket(ctx, at)
	if err != nil {
		return err
	}
	return errors.Join(do(bucket), bucket.Close())
}

// index returns the index of that id as the metastore knew it at the beginning, nil if it did not.
func (r *runner) index(id string) *metastore.IndexMetadata {
	for _, index := range r.indexes {
		if index.IndexUID.IndexID == id {
			return index
		}
	}
	return nil
}
