package file

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"holdfast/metastore"
)

var parquetKinds = []metastore.ParquetKind{metastore.MetricsSplits, metastore.SketchSplits}

// parquetSplits returns small Parquet splits as staging prepares them.
func parquetSplits(t testing.TB, uid metastore.IndexUID, ids ...string) []*metastore.ParquetSplitMetadata {
	t.Helper()
	splits := make([]metastore.ParquetSplitMetadata, len(ids))
	for i, id := range ids {
		splits[i] = metastore.ParquetSplitMetadata{SplitID: id, IndexUID: uid.String(), CreatedSeconds: 5, Maturity: metastore.Maturity{Immature: true, PeriodMillis: 7000}}
	}
	prepared, err := metastore.PrepareParquetStage(uid, splits)
	if err != nil {
		t.Fatal(err)
	}
	return prepared
}

func stageParquet(t testing.TB, s *Store, kind metastore.ParquetKind, uid metastore.IndexUID, ids ...string) {
	t.Helper()
	var splits []metastore.ParquetSplitMetadata
	for _, split := range parquetSplits(t, uid, ids...) {
		splits = append(splits, *split)
	}
	if err := s.StageParquetSplits(t.Context(), kind, uid, splits); err != nil {
		t.Fatal(err)
	}
}

// parquetListing returns every split of a kind as the store lists it.
func parquetListing(t testing.TB, s *Store, kind metastore.ParquetKind, uid metastore.IndexUID) []string {
	t.Helper()
	var rows []string
	err := s.ListParquetSplits(t.Context(), kind, &metastore.ListParquetSplitsQuery{IndexUID: uid}, func(row *metastore.ParquetSplitRow) error {
		rows = append(rows, string(row.AppendJSON(nil)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestParquetSplitsSurviveInTheLogAndInSnapshots(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	s := openOn(t, b, snapshotEvery(1<<40))
	uid := createIndex(t, s, "metrics")
	for _, kind := range parquetKinds {
		stageParquet(t, s, kind, uid, "a", "b", "c", "d")
		if err := s.PublishParquetSplits(t.Context(), kind, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: []string{"a", "b"}}); err != nil {
			t.Fatal(err)
		}
		if err := s.MarkParquetSplitsForDeletion(t.Context(), kind, uid, []string{"b", "c"}); err != nil {
			t.Fatal(err)
		}
		if err := s.DeleteParquetSplits(t.Context(), kind, uid, []string{"c"}); err != nil {
			t.Fatal(err)
		}
	}
	want := map[metastore.ParquetKind][]string{}
	for _, kind := range parquetKinds {
		want[kind] = parquetListing(t, s, kind, uid)
		if len(want[kind]) != 3 {
			t.Fatalf("%d splits of kind %s are left, want 3", len(want[kind]), kind)
		}
		if got := parquetListing(t, openOn(t, b), kind, uid); !slices.Equal(got, want[kind]) {
			t.Errorf("from the log: %s\nwant %s", got, want[kind])
		}
	}
	log, done := s.logs.use("metrics")
	defer done()
	writeSnapshot(t, log)
	for version := uint64(1); version < log.current.Load().version; version++ {
		if err := b.Delete(t.Context(), logKeys{"metrics/"}.entry(version)); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range parquetKinds {
		if got := parquetListing(t, openOn(t, b), kind, uid); !slices.Equal(got, want[kind]) {
			t.Errorf("from the snapshot: %s\nwant %s", got, want[kind])
		}
	}
}

func TestASnapshotHoldsThePeersStoredParquetSplits(t *testing.T) {
	t.Parallel()
	text := string(indexSnapshot(t, "a"))
	document := parquetSplits(t, metastore.IndexUID{IndexID: "logs", Incarnation: [16]byte{7}}, "a")[0].Document()
	for _, want := range []string{
		`"metrics_splits":[{"metadata":` + document + `,"state":"MarkedForDeletion","update_timestamp":8,"create_timestamp":8,"node_id":"","delete_opstamp":0,"maturity_timestamp":12}]`,
		`"sketch_splits":[{"metadata":` + document + `,"state":"Published",`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the snapshot lacks %s:\n%s", want, text)
		}
	}
}

func TestASnapshotWithoutParquetSplitsDoesNotMentionThem(t *testing.T) {
	t.Parallel()
	b, _ := grown(t, 2, 2)
	text, err := b.Read(t.Context(), logKeys{"logs/"}.snapshot(2), maxEntryBytes)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("metrics_splits")) || bytes.Contains(text, []byte("sketch_splits")) {
		t.Errorf("%s", text)
	}
}

func TestADamagedListOfParquetSplitsIsNotGuessed(t *testing.T) {
	t.Parallel()
	uid := metastore.IndexUID{IndexID: "logs", Incarnation: [16]byte{7}}
	split := `{"metadata":` + parquetSplits(t, uid, "a")[0].Document() + `,"state":"Staged","update_timestamp":8}`
	for name, c := range map[string]struct{ text, want string }{
		"twice":         {split + "," + split, "given twice"},
		"unknown state": {strings.Replace(split, "Staged", "New", 1), "not a split state"},
		"no metadata":   {`{"state":"Staged","update_timestamp":8}`, "metadata"},
		"no index":      {split, "member index is missing"},
	} {
		for _, member := range parquetMembers {
			text := `{"version":"0.9","holdfast":{"format":1,"log_version":1,"write_id":"` + someID + `"},"splits":[],"delete_tasks":[],"` + member + `":[` + c.text + `]`
			_, err := indexCodec.read(&sealReader{r: bytes.NewReader(sealed(text))})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q in it", name, err, c.want)
			}
		}
	}
}

func TestCallsAboutParquetSplitsThatChangeNothingWriteNothing(t *testing.T) {
	t.Parallel()
	b := memBucket(t)
	s := openOn(t, b)
	uid := createIndex(t, s, "metrics")
	stageParquet(t, s, metastore.MetricsSplits, uid, "a")
	if err := s.MarkParquetSplitsForDeletion(t.Context(), metastore.MetricsSplits, uid, []string{"a"}); err != nil {
		t.Fatal(err)
	}
	before := len(names(t, b, logKeys{"metrics/"}.entries()))
	for name, call := range map[string]func() error{
		"stage nothing": func() error { return s.StageParquetSplits(t.Context(), metastore.MetricsSplits, uid, nil) },
		"publish nothing": func() error {
			return s.PublishParquetSplits(t.Context(), metastore.MetricsSplits, metastore.PublishSplitsRequest{IndexUID: uid})
		},
		"mark again": func() error {
			return s.MarkParquetSplitsForDeletion(t.Context(), metastore.MetricsSplits, uid, []string{"a", "unknown"})
		},
		"delete unknown":    func() error { return s.DeleteParquetSplits(t.Context(), metastore.MetricsSplits, uid, []string{"x"}) },
		"delete other kind": func() error { return s.DeleteParquetSplits(t.Context(), metastore.SketchSplits, uid, []string{"a"}) },
		"mark without index": func() error {
			return s.MarkParquetSplitsForDeletion(t.Context(), metastore.SketchSplits, metastore.IndexUID{IndexID: "none"}, []string{"a"})
		},
	} {
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := len(names(t, b, logKeys{"metrics/"}.entries())); after != before {
		t.Errorf("%d entries after, %d before", after, before)
	}
}

func BenchmarkListParquetSplits(b *testing.B) {
	s := openOn(b, memBucket(b))
	uid := createIndex(b, s, "metrics")
	ids := make([]string, 10_000)
	for i := range ids {
		ids[i] = fmt.Sprintf("split-%05d", i)
	}
	stageParquet(b, s, metastore.MetricsSplits, uid, ids...)
	query := &metastore.ListParquetSplitsQuery{IndexUID: uid, States: []metastore.SplitState{metastore.Staged}, Limit: metastore.Some(uint64(500)), After: metastore.Some("split-05000")}
	for b.Loop() {
		n := 0
		if err := s.ListParquetSplits(b.Context(), metastore.MetricsSplits, query, func(*metastore.ParquetSplitRow) error { n++; return nil }); err != nil || n != 500 {
			b.Fatal(n, err)
		}
	}
}
