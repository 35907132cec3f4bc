package storetest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
)

// caseTimeout ends a case that hangs; no case comes near it.
const caseTimeout = 2 * time.Minute

// bundle is what one case works with: the test, the store, and ids that nobody else uses.
type bundle struct {
	*testing.T
	ctx     context.Context
	store   metastore.Store
	profile Profile
	prefix  string
	probe   metastore.IndexUID // of clock.go
}

func newBundle(t *testing.T, store metastore.Store, profile Profile) *bundle {
	ctx, cancel := context.WithTimeout(t.Context(), caseTimeout)
	t.Cleanup(cancel)
	return &bundle{T: t, ctx: ctx, store: store, profile: profile, prefix: "st-" + strings.ToLower(ulid.Make().String())}
}

// indexID returns an id of this case alone; the suffix tells its indexes apart.
func (b *bundle) indexID(suffix string) string { return b.prefix + "-" + suffix }

// index creates an index of this case and returns its UID.
func (b *bundle) index(suffix string) metastore.IndexUID {
	b.Helper()
	return b.createIndex(b.indexID(suffix))
}

// unknownIndex returns the UID of an index that was never created.
func (b *bundle) unknownIndex() metastore.IndexUID {
	return metastore.IndexUID{IndexID: b.indexID("unknown"), Incarnation: ulid.Make()}
}

// otherIncarnation returns a UID of an existing index id with an incarnation that never existed.
func otherIncarnation(uid metastore.IndexUID) metastore.IndexUID {
	return metastore.IndexUID{IndexID: uid.IndexID, Incarnation: ulid.Make()}
}

// stage upserts splits and fails the case if that fails.
func (b *bundle) stage(uid metastore.IndexUID, splits ...metastore.SplitMetadata) {
	b.Helper()
	if err := b.tryStage(uid, splits...); err != nil {
		b.Fatalf("stage: %v", err)
	}
}

func (b *bundle) tryStage(uid metastore.IndexUID, splits ...metastore.SplitMetadata) error {
	_, err := b.store.StageSplits(b.ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: splits})
	return err
}

// createOnly stages splits in create-only mode and fails the case if that fails.
func (b *bundle) createOnly(uid metastore.IndexUID, splits ...metastore.SplitMetadata) metastore.StageSplitsResult {
	b.Helper()
	result, err := b.tryCreateOnly(uid, splits...)
	if err != nil {
		b.Fatalf("stage create-only: %v", err)
	}
	return result
}

func (b *bundle) tryCreateOnly(uid metastore.IndexUID, splits ...metastore.SplitMetadata) (metastore.StageSplitsResult, error) {
	return b.store.StageSplits(b.ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: splits, CreateOnly: true})
}

func (b *bundle) publish(uid metastore.IndexUID, ids ...string) {
	b.Helper()
	b.replace(uid, ids, nil)
}

func (b *bundle) tryPublish(uid metastore.IndexUID, ids ...string) error {
	return b.tryReplace(uid, ids, nil)
}

func (b *bundle) replace(uid metastore.IndexUID, staged, replaced []string) {
	b.Helper()
	if err := b.tryReplace(uid, staged, replaced); err != nil {
		b.Fatalf("publish %v replacing %v: %v", staged, replaced, err)
	}
}

func (b *bundle) tryReplace(uid metastore.IndexUID, staged, replaced []string) error {
	return b.store.PublishSplits(b.ctx, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: staged, ReplacedSplitIDs: replaced})
}

func (b *bundle) mark(uid metastore.IndexUID, ids ...string) {
	b.Helper()
	if err := b.tryMark(uid, ids...); err != nil {
		b.Fatalf("mark %v: %v", ids, err)
	}
}

func (b *bundle) tryMark(uid metastore.IndexUID, ids ...string) error {
	return b.store.MarkSplitsForDeletion(b.ctx, uid, ids)
}

func (b *bundle) delete(uid metastore.IndexUID, ids ...string) {
	b.Helper()
	if err := b.tryDelete(uid, ids...); err != nil {
		b.Fatalf("delete %v: %v", ids, err)
	}
}

func (b *bundle) tryDelete(uid metastore.IndexUID, ids ...string) error {
	return b.store.DeleteSplits(b.ctx, uid, ids)
}

// rows returns what a query selects, in the order of the store.
func (b *bundle) rows(query *metastore.ListSplitsQuery) []metastore.SplitRow {
	b.Helper()
	var rows []metastore.SplitRow
	err := b.store.ListSplits(b.ctx, query, func(row *metastore.SplitRow) error {
		rows = append(rows, row.Clone())
		return nil
	})
	if err != nil {
		b.Fatalf("list splits: %v", err)
	}
	return rows
}

// list returns what a query selects, read, in the order of the store.
func (b *bundle) list(query *metastore.ListSplitsQuery) []metastore.Split {
	b.Helper()
	rows := b.rows(query)
	splits := make([]metastore.Split, 0, len(rows))
	for _, row := range rows {
		split, err := row.Split()
		if err != nil {
			b.Fatalf("read listed split: %v", err)
		}
		splits = append(splits, split)
	}
	return splits
}

// ids returns the ids a query selects, in the order of the store.
func (b *bundle) ids(query *metastore.ListSplitsQuery) []string {
	b.Helper()
	var ids []string
	for _, split := range b.list(query) {
		ids = append(ids, split.Metadata.SplitID)
	}
	return ids
}

// split returns one split of an index, which must exist.
func (b *bundle) split(uid metastore.IndexUID, id string) metastore.Split {
	b.Helper()
	query := metastore.AllSplits(uid)
	query.IncludedSplitIDs = []string{id}
	splits := b.list(query)
	if len(splits) != 1 {
		b.Fatalf("split %q of %s: listed %d times, want once", id, uid, len(splits))
	}
	return splits[0]
}

// states returns the state of every split of an index, by id.
func (b *bundle) states(uid metastore.IndexUID) map[string]metastore.SplitState {
	b.Helper()
	states := map[string]metastore.SplitState{}
	for _, split := range b.list(metastore.AllSplits(uid)) {
		states[split.Metadata.SplitID] = split.State
	}
	return states
}

// inState returns the ids of the splits of an index in a state, sorted.
func (b *bundle) inState(uid metastore.IndexUID, state metastore.SplitState) []string {
	b.Helper()
	query := metastore.AllSplits(uid)
	query.States = []metastore.SplitState{state}
	ids := b.ids(query)
	slices.Sort(ids)
	return ids
}

// snapshot returns every split of an index as the store shows it, all of its bytes, by id.
func (b *bundle) snapshot(uid metastore.IndexUID) map[string]string {
	b.Helper()
	snapshot := map[string]string{}
	for _, row := range b.rows(metastore.AllSplits(uid)) {
		split, err := row.Split()
		if err != nil {
			b.Fatalf("read listed split: %v", err)
		}
		snapshot[split.Metadata.SplitID] = string(row.AppendJSON(nil))
	}
	return snapshot
}
