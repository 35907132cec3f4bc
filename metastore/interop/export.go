package interop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"holdfast/metastore"
	"holdfast/metastore/file"
	"holdfast/metastore/indexconfig"
)

// exporter is one export.
type exporter struct {
	options  Options
	from     location
	store    *file.Store
	target   place
	claim    *claim
	reporter *reporter

	mu      sync.Mutex // guards what follows
	summary *Summary
	records int // idempotency records that have no place in the target
}

// Export writes what a file store of ours holds as a file-backed store of Quickwit's. No server of either may write
// meanwhile: what is written to an index after it was copied is not part of the export. The manifest is written last. The
// error is about what kept it from working, and then the same call again goes on. The summary is not nil
// unless nothing was begun.
func Export(ctx context.Context, options Options) (summary *Summary, err error) {
	from, err := parseLocation(options.From)
	if err != nil {
		return nil, fmt.Errorf("the source: %w", err)
	}
	to, err := parseLocation(withoutPolling(options.To))
	if err != nil {
		return nil, fmt.Errorf("the target: %w", err)
	}
	if from.same(to) {
		return nil, fmt.Errorf("the target: %s is the source", to)
	}
	e := &exporter{options: options, from: from, summary: &Summary{
		From: options.Mask(options.From), To: options.Mask(options.To), Indexes: []Index{}, Templates: []Template{}, Notes: []string{},
	}}
	if err := e.openSource(ctx, from); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.store.Close()) }()
	content, err := e.store.Content(ctx)
	if err != nil {
		return nil, fmt.Errorf("the source: %w", err)
	}
	if e.target, err = to.open(ctx); err != nil {
		return nil, fmt.Errorf("the target: %w", err)
	}
	defer e.target.Close() //nolint:errcheck // everything was written and compared
	defer e.summary.sort()
	if err := e.begin(ctx, content); err != nil {
		return nil, err
	}
	if err := e.run(ctx, content); err != nil {
		e.claim.end(ctx)
		return e.summary, err
	}
	return e.summary, e.claim.complete(ctx)
}

// openSource opens the store if there is one, because opening creates one.
func (e *exporter) openSource(ctx context.Context, at location) error {
	p, err := at.open(ctx)
	if err != nil {
		return fmt.Errorf("the source: %w", err)
	}
	directories, err := p.Directories(ctx)
	if err = errors.Join(err, p.Close()); err != nil {
		return fmt.Errorf("the source %s: %w", at, err)
	}
	if !slices.Contains(directories, "_log") {
		return fmt.Errorf("the source %s: %w of Holdfast's: there is no directory _log", at, ErrNoStore)
	}
	if e.store, err = file.Open(ctx, file.Options{URL: at.storeURL(e.options.From)}); err != nil {
		return fmt.Errorf("the source %s: %w", at, err)
	}
	return nil
}

// begin claims the target, which must be empty unless an earlier export of the same source began there.
func (e *exporter) begin(ctx context.Context, content file.Content) error {
	directories, err := e.target.Directories(ctx)
	if err != nil {
		return fmt.Errorf("list the directories of the target: %w", err)
	}
	if slices.Contains(directories, "_log") {
		return fmt.Errorf("%w: it is a store of Holdfast's", ErrNotEmpty)
	}
	e.claim, e.summary.Resumed, err = acquire(ctx, e.target, exportClaimName, e.from.String(), e.options.TakeOver, e.options.Force)
	if err != nil || e.summary.Resumed || e.options.Force {
		return err
	}
	names := []string{manifestName, legacyManifestName}
	for _, id := range content.IndexIDs {
		names = append(names, indexKey(id))
	}
	for _, name := range names {
		there, err := exists(ctx, e.target, name)
		if err == nil && there {
			err = fmt.Errorf("%w: object %s is there", ErrNotEmpty, name)
		}
		if err != nil {
			return errors.Join(err, e.claim.complete(ctx))
		}
	}
	return nil
}

func (e *exporter) run(ctx context.Context, content file.Content) error {
	e.reporter = newReporter(e.options.Progress, len(content.IndexIDs))
	group, groupContext := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, id := range content.IndexIDs {
		group.Go(func() error {
			if err := e.copy(groupContext, id); err != nil {
				return fmt.Errorf("index %s: %w", id, err)
			}
			e.reporter.done(id)
			return nil
		})
	}
	if err := errors.Join(group.Wait(), context.Cause(ctx)); err != nil {
		return err
	}
	if err := e.writeManifest(ctx, content); err != nil {
		return err
	}
	if records := e.records + content.Records; records > 0 {
		e.summary.Notes = append(e.summary.Notes, fmt.Sprintf("%d idempotency records were not carried: Quickwit has no place for them, and calls that are repeated there take effect again", records))
	}
	return e.noteLeftovers(ctx)
}

// copy exports one index.
func (e *exporter) copy(ctx context.Context, indexID string) error {
	exported, err := e.store.ExportIndex(ctx, indexID)
	if errors.Is(err, metastore.NotFound(metastore.IndexEntity(indexID))) {
		return nil // an id without an index, which no listing shows either
	}
	if err != nil {
		return err
	}
	index := Index{IndexID: indexID, Result: Copied, Version: "0.9"}
	index.describe(exported.IndexContent)
	if exported.OpstampFloor > exported.LastOpstamp {
		const place = "holdfast.delete_opstamp_floor"
		index.Dropped = []file.Loss{{Path: place, Reason: file.Changed, Count: 1, First: place}}
		index.Detail = fmt.Sprintf("delete opstamps go on above %d, and in Quickwit above %d, that of the last delete task: create a delete task and export again, or new ones skip splits", exported.OpstampFloor, exported.LastOpstamp)
	}
	written := e.peerDocument(indexID)
	present, err := e.present(ctx, exported, written)
	if err != nil {
		return err
	}
	if present {
		index.Result = Present
	} else if err := e.write(ctx, exported, written); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.summary.Indexes = append(e.summary.Indexes, index)
	e.records += exported.Records
	return nil
}

// present reports whether the target has the index as it is now.
func (e *exporter) present(ctx context.Context, exported *file.ExportedIndex, there file.PeerDocument) (bool, error) {
	found, err := exists(ctx, e.target, indexKey(there.IndexID))
	if err != nil || !found {
		return false, err
	}
	same, err := exported.Compare(ctx, there)
	if errors.Is(err, file.ErrPeerDocument) {
		return false, nil // it is replaced
	}
	return same, err
}

// write writes the document of an index and compares what was written.
func (e *exporter) write(ctx context.Context, exported *file.ExportedIndex, written file.PeerDocument) error {
	if err := e.claim.check(ctx); err != nil {
		return err
	}
	key := indexKey(written.IndexID)
	err := e.target.Replace(ctx, key, func(w io.Writer) error {
		_, err := exported.WriteTo(w)
		return err
	})
	if err != nil {
		return fmt.Errorf("write object %s: %w", key, err)
	}
	same, err := exported.Compare(ctx, written)
	if err == nil && !same {
		err = errors.New("it does not hold what was written")
	}
	if err != nil {
		return fmt.Errorf("read object %s back: %w", key, err)
	}
	return nil
}

func (e *exporter) peerDocument(indexID string) file.PeerDocument {
	return file.PeerDocument{IndexID: indexID, Open: func(ctx context.Context) (io.ReadCloser, error) {
		r, _, err := e.target.Open(ctx, indexKey(indexID))
		if err != nil {
			return nil, fmt.Errorf("read object %s: %w", indexKey(indexID), err)
		}
		return e.reporter.count(indexID, r), nil
	}}
}

// writeManifest makes the indexes visible to Quickwit.
func (e *exporter) writeManifest(ctx context.Context, content file.Content) error {
	m := &manifest{indexes: map[string]status{}, templates: content.Templates, identity: content.Identity}
	for _, index := range e.summary.Indexes {
		m.indexes[index.IndexID] = active
	}
	if err := e.claim.check(ctx); err != nil {
		return err
	}
	text := m.append(nil)
	err := e.target.Replace(ctx, manifestName, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("write object %s: %w", manifestName, err)
	}
	written, err := readManifest(ctx, e.target)
	if err == nil && !bytes.Equal(written.append(nil), text) {
		err = errors.New("it does not hold what was written")
	}
	if err != nil {
		return fmt.Errorf("read object %s back: %w", manifestName, err)
	}
	e.summary.Identity = content.Identity
	for _, template := range content.Templates {
		e.summary.Templates = append(e.summary.Templates, Template{template.TemplateID, Copied})
	}
	return nil
}

// noteLeftovers notes documents of the target that were there before and are in no manifest any more.
func (e *exporter) noteLeftovers(ctx context.Context) error {
	directories, err := e.target.Directories(ctx)
	if err != nil {
		return fmt.Errorf("list the directories of the target: %w", err)
	}
	for _, name := range directories {
		written := slices.ContainsFunc(e.summary.Indexes, func(i Index) bool { return i.IndexID == name })
		if written || indexconfig.ValidateIndexID(name) != nil {
			continue
		}
		there, err := exists(ctx, e.target, indexKey(name))
		if err != nil {
			return err
		}
		if there {
			e.summary.Indexes = append(e.summary.Indexes, Index{IndexID: name, Result: LeftBehind,
				Detail: "object " + indexKey(name) + " was there before and is not part of the export; Quickwit serves it to who asks for the id: remove it"})
		}
	}
	return nil
}
