package storetest

import (
	"reflect"

	"holdfast/metastore"
)

// parquetBundle is what one case about Parquet splits of one kind works with.
type parquetBundle struct {
	*bundle
	kind metastore.ParquetKind
}

// parquetCase is one rule, which holds for both kinds.
type parquetCase struct {
	name string
	run  func(b *parquetBundle)
}

// parquetCases returns the cases of all subjects for one kind.
func parquetCases(kind metastore.ParquetKind) []testCase {
	var cases []testCase
	for _, subject := range [][]parquetCase{
		parquetStageCases(), parquetPublishCases(), parquetListCases(), parquetTimeCases(), parquetMarkCases(), parquetDeleteCases(), parquetConcurrencyCases(),
	} {
		for _, c := range subject {
			cases = append(cases, testCase{c.name, func(b *bundle) { c.run(&parquetBundle{b, kind}) }})
		}
	}
	return cases
}

// otherKind is the kind that the case is not about.
func (b *parquetBundle) otherKind() metastore.ParquetKind {
	return metastore.MetricsSplits + metastore.SketchSplits - b.kind
}

// id returns a split id of this case alone, because a store may demand that ids are unique over all indexes.
func (b *parquetBundle) id(name string) string { return b.prefix + "-" + name }

func (b *parquetBundle) fullIDs(names ...string) []string {
	ids := make([]string, len(names))
	for i, name := range names {
		ids[i] = b.id(name)
	}
	return ids
}

// split returns the metadata of a small mature split.
func (b *parquetBundle) newSplit(uid metastore.IndexUID, name string, changes ...func(*metastore.ParquetSplitMetadata)) metastore.ParquetSplitMetadata {
	split := metastore.ParquetSplitMetadata{
		Kind: b.kind, SplitID: b.id(name), IndexUID: uid.String(), TimeStart: 1000, TimeEnd: 2000, NumRows: 100, SizeBytes: 4096,
		MetricNames: []string{"cpu.usage"}, CreatedSeconds: payloadCreated, ParquetFile: name + ".parquet",
	}
	for _, change := range changes {
		change(&split)
	}
	return split
}

func (b *parquetBundle) newSplits(uid metastore.IndexUID, names ...string) []metastore.ParquetSplitMetadata {
	splits := make([]metastore.ParquetSplitMetadata, len(names))
	for i, name := range names {
		splits[i] = b.newSplit(uid, name)
	}
	return splits
}

func numRows(n uint64) func(*metastore.ParquetSplitMetadata) {
	return func(m *metastore.ParquetSplitMetadata) { m.NumRows = n }
}

func dataRange(start, end uint64) func(*metastore.ParquetSplitMetadata) {
	return func(m *metastore.ParquetSplitMetadata) { m.TimeStart, m.TimeEnd = start, end }
}

func metricNames(names ...string) func(*metastore.ParquetSplitMetadata) {
	return func(m *metastore.ParquetSplitMetadata) { m.MetricNames = names }
}

func parquetTags(key string, values ...string) func(*metastore.ParquetSplitMetadata) {
	return func(m *metastore.ParquetSplitMetadata) {
		if m.LowCardinalityTags == nil {
			m.LowCardinalityTags = map[string][]string{}
		}
		m.LowCardinalityTags[key] = values
	}
}

func compactionWindow(start int64, duration uint32, sortFields string) func(*metastore.ParquetSplitMetadata) {
	return func(m *metastore.ParquetSplitMetadata) {
		m.Window = metastore.Some(metastore.ParquetWindow{Start: start, Duration: duration})
		m.SortFields = sortFields
	}
}

func immatureFrom(createdSeconds, periodMillis uint64) func(*metastore.ParquetSplitMetadata) {
	return func(m *metastore.ParquetSplitMetadata) {
		m.CreatedSeconds, m.CreatedNanos = createdSeconds, 999_999_999
		m.Maturity = metastore.Maturity{Immature: true, PeriodMillis: periodMillis}
	}
}

func (b *parquetBundle) tryStage(uid metastore.IndexUID, splits ...metastore.ParquetSplitMetadata) error {
	return b.store.StageParquetSplits(b.ctx, b.kind, uid, splits)
}

func (b *parquetBundle) stage(uid metastore.IndexUID, splits ...metastore.ParquetSplitMetadata) {
	b.Helper()
	if err := b.tryStage(uid, splits...); err != nil {
		b.Fatalf("stage: %v", err)
	}
}

func (b *parquetBundle) tryReplace(uid metastore.IndexUID, staged, replaced []string) error {
	return b.tryPublishRequest(metastore.PublishSplitsRequest{
		IndexUID: uid, StagedSplitIDs: b.fullIDs(staged...), ReplacedSplitIDs: b.fullIDs(replaced...),
	})
}

func (b *parquetBundle) tryPublishRequest(request metastore.PublishSplitsRequest) error {
	return b.store.PublishParquetSplits(b.ctx, b.kind, request)
}

func (b *parquetBundle) tryPublish(uid metastore.IndexUID, names ...string) error {
	return b.tryReplace(uid, names, nil)
}

func (b *parquetBundle) publish(uid metastore.IndexUID, names ...string) {
	b.Helper()
	if err := b.tryPublish(uid, names...); err != nil {
		b.Fatalf("publish %v: %v", names, err)
	}
}

func (b *parquetBundle) tryMark(uid metastore.IndexUID, names ...string) error {
	return b.store.MarkParquetSplitsForDeletion(b.ctx, b.kind, uid, b.fullIDs(names...))
}

func (b *parquetBundle) mark(uid metastore.IndexUID, names ...string) {
	b.Helper()
	if err := b.tryMark(uid, names...); err != nil {
		b.Fatalf("mark %v: %v", names, err)
	}
}

func (b *parquetBundle) tryDelete(uid metastore.IndexUID, names ...string) error {
	return b.store.DeleteParquetSplits(b.ctx, b.kind, uid, b.fullIDs(names...))
}

func (b *parquetBundle) delete(uid metastore.IndexUID, names ...string) {
	b.Helper()
	if err := b.tryDelete(uid, names...); err != nil {
		b.Fatalf("delete %v: %v", names, err)
	}
}

// lifeCycle leaves three splits: "staged", "published" and "marked", in these states.
func (b *parquetBundle) lifeCycle(uid metastore.IndexUID) {
	b.Helper()
	b.stage(uid, b.newSplits(uid, "marked", "published", "staged")...)
	b.publish(uid, "marked", "published")
	b.mark(uid, "marked")
}

// list returns what a query selects, in the order of the store.
func (b *parquetBundle) list(query *metastore.ListParquetSplitsQuery) []metastore.ParquetSplitRow {
	b.Helper()
	var rows []metastore.ParquetSplitRow
	err := b.store.ListParquetSplits(b.ctx, b.kind, query, func(row *metastore.ParquetSplitRow) error {
		rows = append(rows, *row)
		return nil
	})
	if err != nil {
		b.Fatalf("list: %v", err)
	}
	return rows
}

// names returns the names of the splits that a query selects, in the order of the store.
func (b *parquetBundle) names(query *metastore.ListParquetSplitsQuery) []string {
	b.Helper()
	var names []string
	for _, row := range b.list(query) {
		metadata, err := row.Metadata()
		if err != nil {
			b.Fatalf("read listed split: %v", err)
		}
		names = append(names, metadata.SplitID[len(b.prefix)+1:])
	}
	return names
}

// wantListed checks which splits a query selects, in order.
func (b *parquetBundle) wantListed(query *metastore.ListParquetSplitsQuery, names ...string) {
	b.Helper()
	b.wantIDs(b.names(query), names...)
}

// all selects every split of an index.
func (b *parquetBundle) all(uid metastore.IndexUID) *metastore.ListParquetSplitsQuery {
	return &metastore.ListParquetSplitsQuery{IndexUID: uid}
}

// inStates selects the splits of an index in these states.
func (b *parquetBundle) inStates(uid metastore.IndexUID, states ...metastore.SplitState) *metastore.ListParquetSplitsQuery {
	return &metastore.ListParquetSplitsQuery{IndexUID: uid, States: states}
}

// wantStates checks that an index holds exactly these splits in these states.
func (b *parquetBundle) wantStates(uid metastore.IndexUID, want map[string]metastore.SplitState) {
	b.Helper()
	got := map[string]metastore.SplitState{}
	for _, row := range b.list(b.all(uid)) {
		metadata, err := row.Metadata()
		if err != nil {
			b.Fatalf("read listed split: %v", err)
		}
		got[metadata.SplitID[len(b.prefix)+1:]] = row.State
	}
	if len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
		b.Fatalf("splits of %s are %v, want %v", uid, got, want)
	}
}

// unchanged returns a check that every split of an index looks as it does now, byte for byte.
func (b *parquetBundle) unchanged(uid metastore.IndexUID) (check func()) {
	b.Helper()
	before := b.list(b.all(uid))
	return func() {
		b.Helper()
		if after := b.list(b.all(uid)); !reflect.DeepEqual(after, before) {
			b.Fatalf("splits changed\nbefore %+v\nafter  %+v", before, after)
		}
	}
}
