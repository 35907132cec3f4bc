package interop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"holdfast/metastore/file"
	"holdfast/metastore/indexconfig"
)

// ErrNotEmpty says that the target holds something already.
var ErrNotEmpty = errors.New("the target is not empty")

// Options says what to copy, and how.
type Options struct {
	// From and To are the URIs of the stores: a directory, file:///dir, s3://, gs://, azblob:// or, on Quickwit's side, azure://, there also with
	// a polling suffix.
	From, To string
	// Force goes on although the target is not empty. An import leaves indexes and templates alone that are there and differ; an
	// export replaces what is there.
	Force bool
	// DryRun reads and checks, and writes nothing. For imports.
	DryRun bool
	// TakeOver goes on although another process claims to write into the target.
	TakeOver bool
	// Mask returns a URI without its secrets, for the summary.
	Mask func(uri string) string
	// Progress, if not nil, is called now and then, one call at a time.
	Progress func(Progress)
}

const (
	// parallel is how many indexes are copied at once.
	parallel = 4
	// parallelBytes bounds the documents of the indexes that are copied at once. A larger one is copied alone.
	parallelBytes = 256 << 20
)

// importer is one import.
type importer struct {
	options  Options
	at       location // of the source
	from     place
	store    *file.Store
	claim    *claim
	begun    bool // the target is claimed
	now      int64
	reporter *reporter

	mu      sync.Mutex // guards summary
	summary *Summary
}

// Import copies a file-backed store of Quickwit's into a file store of ours. Quickwit must not write it meanwhile. What it
// cannot carry is in the summary; the error is about what kept it from working, and then the same call again
// goes on. The summary is not nil unless nothing was begun.
func Import(ctx context.Context, options Options) (*Summary, error) {
	at, err := parseLocation(withoutPolling(options.From))
	if err != nil {
		return nil, fmt.Errorf("the source: %w", err)
	}
	from, err := at.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("the source: %w", err)
	}
	defer from.Close() //nolint:errcheck // nothing was written
	found, err := readManifest(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("the source %s: %w", at, err)
	}
	i := &importer{options: options, at: at, from: from, now: time.Now().Unix(), summary: &Summary{
		From: options.Mask(options.From), Indexes: []Index{}, Templates: []Template{}, Notes: []string{},
	}}
	defer i.summary.sort()
	work, err := i.plan(ctx, found)
	if err != nil {
		return nil, err
	}
	if options.DryRun {
		for _, template := range found.templates {
			i.summary.Templates = append(i.summary.Templates, Template{template.TemplateID, Planned})
		}
		return i.summary, i.each(ctx, work, i.check)
	}
	err = i.run(ctx, found, work)
	if !i.begun {
		return nil, err
	}
	return i.summary, err
}

// document is one index to copy.
type document struct {
	indexID string
	size    int64
}

// plan finds the documents of the indexes, and notes what will not be copied.
func (i *importer) plan(ctx context.Context, found *manifest) ([]document, error) {
	var work []document
	total := int64(0)
	for _, id := range slices.Sorted(maps.Keys(found.indexes)) {
		if err := indexconfig.ValidateIndexID(id); err != nil {
			i.add(Index{IndexID: id, Result: Unreadable, Detail: err.Error()})
			continue
		}
		if state := found.indexes[id]; state != active {
			i.add(Index{IndexID: id, Result: NotCarried, Detail: fmt.Sprintf("Quickwit was %s it when it stopped, and does not serve it either", state)})
			continue
		}
		r, size, err := i.from.Open(ctx, indexKey(id))
		if errors.Is(err, errAbsent) {
			i.add(missing(id))
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read object %s: %w", indexKey(id), err)
		}
		if err := r.Close(); err != nil {
			return nil, fmt.Errorf("read object %s: %w", indexKey(id), err)
		}
		work = append(work, document{id, size})
		total += size
	}
	i.summary.Dropped = found.dropped
	i.reporter = newReporter(i.options.Progress, len(work))
	// Each document is read to copy it, and read again to compare.
	i.reporter.now.TotalBytes = 2 * total
	if i.options.DryRun {
		i.reporter.now.TotalBytes = total
	}
	return work, i.noteStrangers(ctx, found)
}

func missing(indexID string) Index {
	return Index{IndexID: indexID, Result: Missing, Detail: "the manifest says that it is active, and there is no object " + indexKey(indexID)}
}

// noteStrangers notes documents that the manifest does not name.
func (i *importer) noteStrangers(ctx context.Context, found *manifest) error {
	directories, err := i.from.Directories(ctx)
	if err != nil {
		return fmt.Errorf("list the directories of the source: %w", err)
	}
	for _, name := range directories {
		if _, named := found.indexes[name]; named || indexconfig.ValidateIndexID(name) != nil {
			continue
		}
		there, err := exists(ctx, i.from, indexKey(name))
		if err != nil {
			return err
		}
		if there {
			i.add(Index{IndexID: name, Result: NotCarried, Detail: "the manifest does not name it: it was deleted, or never completely created"})
		}
	}
	return nil
}

func (i *importer) add(index Index) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.summary.Indexes = append(i.summary.Indexes, index)
}

// each does something with every document, several at once as far as their sizes allow.
func (i *importer) each(ctx context.Context, work []document, do func(context.Context, string) (Index, error)) error {
	room := semaphore.NewWeighted(parallelBytes)
	group, groupContext := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, document := range work {
		weight := min(document.size, parallelBytes)
		if room.Acquire(groupContext, weight) != nil {
			break // the group has failed or the caller has gone, which Wait or the context says
		}
		group.Go(func() error {
			defer room.Release(weight)
			index, err := do(groupContext, document.indexID)
			if err != nil {
				return fmt.Errorf("index %s: %w", document.indexID, err)
			}
			i.add(index)
			i.reporter.done(document.indexID)
			return nil
		})
	}
	return errors.Join(group.Wait(), context.Cause(ctx))
}

func (i *importer) peerDocument(indexID string) file.PeerDocument {
	return file.PeerDocument{IndexID: indexID, Now: i.now, Open: func(ctx context.Context) (io.ReadCloser, error) {
		r, _, err := i.from.Open(ctx, indexKey(indexID))
		if err != nil {
			return nil, fmt.Errorf("read object %s: %w", indexKey(indexID), err)
		}
		return i.reporter.count(indexID, r), nil
	}}
}

// check reads one index and writes nothing.
func (i *importer) check(ctx context.Context, indexID string) (Index, error) {
	read, err := file.ReadPeerDocument(ctx, i.peerDocument(indexID))
	return outcome(indexID, read, Planned, err)
}

// copy imports one index.
func (i *importer) copy(ctx context.Context, indexID string) (Index, error) {
	if err := i.claim.check(ctx); err != nil {
		return Index{}, err
	}
	imported, err := i.store.ImportIndex(ctx, i.peerDocument(indexID))
	result := Copied
	if imported.Existed {
		result = Present
	}
	return outcome(indexID, imported, result, err)
}

// outcome says what became of an index. Errors about the index itself do not keep the others from being copied.
func outcome(indexID string, imported file.ImportedIndex, result Result, err error) (Index, error) {
	index := Index{IndexID: indexID, Result: result, Version: imported.Version, Dropped: imported.Dropped}
	switch {
	case err == nil:
		index.describe(imported.IndexContent)
		return index, nil
	case errors.Is(err, errAbsent):
		return missing(indexID), nil
	case errors.Is(err, file.ErrPeerDocument):
		index.Result = Unreadable
	case errors.Is(err, file.ErrPeerDocumentChanged):
		index.Result = Changed
	case errors.Is(err, file.ErrIndexDiffers):
		index.Result = Conflict
	default:
		return Index{}, err
	}
	index.Detail = oneLine(err)
	return index, nil
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

func (i *importer) run(ctx context.Context, found *manifest, work []document) (err error) {
	target, err := i.openTarget(ctx)
	if err != nil {
		return err
	}
	defer target.Close() //nolint:errcheck // the claim was written and synced
	defer func() { err = errors.Join(err, i.store.Close()) }()
	if err := i.begin(ctx, target); err != nil {
		return err
	}
	i.begun = true
	if err := errors.Join(i.copyTemplates(ctx, found), i.copyIdentity(ctx, found)); err != nil {
		i.claim.end(ctx)
		return err
	}
	if err := i.each(ctx, work, i.copy); err != nil {
		i.claim.end(ctx)
		return err
	}
	return i.claim.complete(ctx)
}

// openTarget opens the store, and the place where it is.
func (i *importer) openTarget(ctx context.Context) (place, error) {
	at, err := parseLocation(i.options.To)
	if err != nil {
		return nil, fmt.Errorf("the target: %w", err)
	}
	if i.store, err = file.Open(ctx, file.Options{URL: at.storeURL(i.options.To)}); err != nil {
		return nil, fmt.Errorf("the target %s: %w", at, err)
	}
	i.summary.To = i.options.Mask(i.options.To)
	target, err := at.open(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the target: %w", err), i.store.Close())
	}
	return target, nil
}

// begin claims the target, which must be empty unless an earlier import from the same source began there.
func (i *importer) begin(ctx context.Context, target place) (err error) {
	i.claim, i.summary.Resumed, err = acquire(ctx, target, importClaimName, i.at.String(), i.options.TakeOver, i.options.Force)
	if err != nil || i.summary.Resumed || i.options.Force {
		return err
	}
	empty, err := i.store.Empty(ctx)
	if err == nil && !empty {
		err = fmt.Errorf("%w: there are indexes or index templates in it", ErrNotEmpty)
	}
	if err != nil {
		return errors.Join(err, i.claim.complete(ctx))
	}
	return nil
}

func (i *importer) copyTemplates(ctx context.Context, found *manifest) error {
	imported, err := i.store.ImportTemplates(ctx, found.templates)
	if err != nil {
		return fmt.Errorf("copy the index templates: %w", err)
	}
	for _, template := range found.templates {
		result := Copied
		switch id := template.TemplateID; {
		case slices.Contains(imported.Existed, id):
			result = Present
		case slices.Contains(imported.Differ, id):
			result = Conflict
		}
		i.summary.Templates = append(i.summary.Templates, Template{template.TemplateID, result})
	}
	return nil
}

func (i *importer) copyIdentity(ctx context.Context, found *manifest) (err error) {
	if i.summary.Identity, err = i.store.ImportIdentity(ctx, found.identity); err != nil {
		return fmt.Errorf("copy the cluster identity: %w", err)
	}
	if found.identity != "" && i.summary.Identity != found.identity {
		i.summary.Notes = append(i.summary.Notes, fmt.Sprintf("the target keeps its cluster identity; %s was not carried", found.identity))
	}
	return nil
}
