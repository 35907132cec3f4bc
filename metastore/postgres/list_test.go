package postgres

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"holdfast/integration/pgtest"
	"holdfast/metastore"
)

// collations makes a database that collates as English and one that collates by bytes.
func collations(t *testing.T) map[string]string {
	server := pgtest.SharedServer(t)
	english := server.Database(t)
	conn := connect(t, server.DSN(english))
	bytewise := english + "_c"
	exec(t, conn, "CREATE DATABASE "+pgx.Identifier{bytewise}.Sanitize()+" TEMPLATE template0 LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C'")
	t.Cleanup(func() {
		exec(t, connect(t, server.DSN("postgres")), "DROP DATABASE "+pgx.Identifier{bytewise}.Sanitize()+" WITH (FORCE)")
	})
	return map[string]string{"collated as the server does": server.DSN(english), "collated by bytes": server.DSN(bytewise)}
}

func TestTheOrderOfAListingIsThatOfBytesInAnyDatabase(t *testing.T) {
	t.Parallel()
	ids := []string{"A", "B", "Z_1", "_x", "a", "a-b", "ab", "b", "é", "z"}
	slices.Sort(ids)
	for name, dsn := range collations(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := reopenStore(t, Options{DSN: dsn})
			// By the bytes of their texts, "logs-a:..." and "logs1:..." come before "logs:...".
			want := []string{"Logs", "logs-a", "logs1", "logs", "mmm"}
			for _, index := range []string{"logs", "logs-a", "logs1", "Logs", "mmm"} {
				stage(t, store, createIndex(t, store, index), ids...)
			}
			var uids []string
			query := &metastore.ListSplitsQuery{AllIndexes: true, SortBy: metastore.SortByIndexUID, Limit: metastore.Some[uint64](7)}
			var listed []string
			for {
				n := 0
				err := store.ListSplits(context.Background(), query, func(row *metastore.SplitRow) error {
					n++
					split, err := row.Split()
					query.After = metastore.Some(metastore.SplitCursor{IndexUID: split.Metadata.IndexUID, SplitID: split.Metadata.SplitID})
					listed = append(listed, split.Metadata.SplitID)
					if len(listed)%len(ids) == 1 {
						uids = append(uids, split.Metadata.IndexUID.IndexID)
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				if n == 0 {
					break
				}
			}
			expect(t, uids, want...)
			expect(t, listed, slices.Repeat(ids, len(want))...)
		})
	}
}

func TestAPageIsReadFromThePrimaryKeyWhenTheDatabaseCollatesByBytes(t *testing.T) {
	t.Parallel()
	store := reopenStore(t, Options{DSN: collations(t)["collated by bytes"]})
	statement, err := store.listStatement(&metastore.ListSplitsQuery{
		AllIndexes: true, SortBy: metastore.SortByIndexUID, Limit: metastore.Some[uint64](10),
		After: metastore.Some(metastore.SplitCursor{SplitID: "a"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, store.options.DSN)
	// The table is empty: only what is possible counts, not what is cheap.
	for _, way := range []string{"seqscan", "bitmapscan", "sort"} {
		exec(t, conn, "SET enable_"+way+" = off")
	}
	result := conn.PgConn().ExecParams(context.Background(), "EXPLAIN "+statement.sql, statement.args, nil, binaryFormat, nil).Read()
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	var plan strings.Builder
	for _, row := range result.Rows {
		plan.Write(row[0])
		plan.WriteByte('\n')
	}
	if !strings.Contains(plan.String(), "splits_pkey") || strings.Contains(plan.String(), "Sort") {
		t.Errorf("the plan is\n%s", plan.String())
	}
}

func TestFiltersCompareThePeersMicrosecondsAsSeconds(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a")
	exec(t, connect(t, dsn), "UPDATE splits SET update_timestamp = '1970-01-01 00:01:40.6', create_timestamp = '1970-01-01 00:01:40.6'")
	at := func(kind metastore.BoundKind, value int64) metastore.Bound[int64] {
		return metastore.Bound[int64]{Kind: kind, Value: value}
	}
	for name, c := range map[string]struct {
		filter metastore.FilterRange[int64]
		found  bool
	}{
		"at most 100":   {metastore.FilterRange[int64]{End: at(metastore.Included, 100)}, true},
		"below 100":     {metastore.FilterRange[int64]{End: at(metastore.Excluded, 100)}, false},
		"below 101":     {metastore.FilterRange[int64]{End: at(metastore.Excluded, 101)}, true},
		"at least 100":  {metastore.FilterRange[int64]{Start: at(metastore.Included, 100)}, true},
		"above 100":     {metastore.FilterRange[int64]{Start: at(metastore.Excluded, 100)}, false},
		"above 99":      {metastore.FilterRange[int64]{Start: at(metastore.Excluded, 99)}, true},
		"above all":     {metastore.FilterRange[int64]{Start: at(metastore.Excluded, math.MaxInt64)}, false},
		"below all":     {metastore.FilterRange[int64]{End: at(metastore.Excluded, math.MinInt64)}, false},
		"up to the end": {metastore.FilterRange[int64]{Start: at(metastore.Included, math.MinInt64), End: at(metastore.Included, math.MaxInt64)}, true},
	} {
		for column, query := range map[string]*metastore.ListSplitsQuery{
			"update": {AllIndexes: true, UpdateTimestamp: c.filter},
			"create": {AllIndexes: true, CreateTimestamp: c.filter},
		} {
			if found := len(list(t, store, query)) == 1; found != c.found {
				t.Errorf("%s time %s: found %v, want %v", column, name, found, c.found)
			}
		}
	}
	err := store.ListSplits(context.Background(), metastore.AllSplits(), func(row *metastore.SplitRow) error {
		if row.UpdateTimestamp != 100 {
			t.Errorf("the update time is %d", row.UpdateTimestamp)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestNumbersBeyondBigintAreNoErrors(t *testing.T) {
	t.Parallel()
	store, _ := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a", "b")
	bound := func(kind metastore.BoundKind, value uint64) metastore.Bound[uint64] {
		return metastore.Bound[uint64]{Kind: kind, Value: value}
	}
	for name, c := range map[string]struct {
		query metastore.ListSplitsQuery
		want  int
	}{
		"limit":                   {metastore.ListSplitsQuery{Limit: metastore.Some[uint64](math.MaxUint64)}, 2},
		"offset":                  {metastore.ListSplitsQuery{Offset: metastore.Some[uint64](math.MaxUint64)}, 0},
		"opstamp at least 2^63":   {metastore.ListSplitsQuery{DeleteOpstamp: metastore.FilterRange[uint64]{Start: bound(metastore.Included, 1<<63)}}, 0},
		"opstamp above 2^63-1":    {metastore.ListSplitsQuery{DeleteOpstamp: metastore.FilterRange[uint64]{Start: bound(metastore.Excluded, 1<<63-1)}}, 0},
		"opstamp at most 2^64-1":  {metastore.ListSplitsQuery{DeleteOpstamp: metastore.FilterRange[uint64]{End: bound(metastore.Included, math.MaxUint64)}}, 2},
		"opstamp below 2^63":      {metastore.ListSplitsQuery{DeleteOpstamp: metastore.FilterRange[uint64]{End: bound(metastore.Excluded, 1<<63)}}, 2},
		"mature at the last time": {metastore.ListSplitsQuery{Maturity: metastore.MaturityFilter{Kind: metastore.MatureAt, At: math.MaxInt64}}, 2},
		"immature at the first":   {metastore.ListSplitsQuery{Maturity: metastore.MaturityFilter{Kind: metastore.ImmatureAt, At: math.MinInt64}}, 2},
	} {
		c.query.AllIndexes = true
		if got := len(list(t, store, &c.query)); got != c.want {
			t.Errorf("%s: %d splits, want %d", name, got, c.want)
		}
	}
}

func TestTextThatTheDatabaseCannotHoldMatchesNothing(t *testing.T) {
	t.Parallel()
	store, _ := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a", "ab")
	const odd = "a\x00"
	leaf := func(present bool) *metastore.TagFilter { return &metastore.TagFilter{Tag: odd, Present: present} }
	either := func(present bool, tags ...string) *metastore.TagFilter {
		filter := &metastore.TagFilter{Op: metastore.TagOr}
		for _, tag := range tags {
			filter.Children = append(filter.Children, metastore.TagFilter{Tag: tag, Present: present})
		}
		return filter
	}
	for name, c := range map[string]struct {
		query metastore.ListSplitsQuery
		want  []string
	}{
		"node":              {metastore.ListSplitsQuery{NodeID: metastore.Some(odd)}, nil},
		"included":          {metastore.ListSplitsQuery{IncludedSplitIDs: []string{odd}}, nil},
		"included, one not": {metastore.ListSplitsQuery{IncludedSplitIDs: []string{odd, "ab"}}, []string{"ab"}},
		"excluded":          {metastore.ListSplitsQuery{ExcludedSplitIDs: []string{odd}}, []string{"a", "ab"}},
		"tag present":       {metastore.ListSplitsQuery{Tags: leaf(true)}, nil},
		"tag absent":        {metastore.ListSplitsQuery{Tags: leaf(false)}, []string{"a", "ab"}},
		"one tag of two":    {metastore.ListSplitsQuery{Tags: either(true, odd, "tenant:1")}, []string{"a", "ab"}},
		"one of two absent": {metastore.ListSplitsQuery{Tags: either(false, odd, "tenant:1")}, []string{"a", "ab"}},
		"cursor":            {metastore.ListSplitsQuery{After: metastore.Some(metastore.SplitCursor{IndexUID: uid, SplitID: odd})}, []string{"ab"}},
	} {
		c.query.AllIndexes = true
		c.query.SortBy = metastore.SortByIndexUID
		if got := listIDs(t, store, &c.query); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	ctx := context.Background()
	expectRefused(t, store.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: []string{"a", odd}}), metastore.KindNotFound, odd)
	mark(t, store, uid, odd)
	if err := store.DeleteSplits(ctx, uid, []string{odd}); err != nil {
		t.Error(err)
	}
	expect(t, states(t, store), "a Staged", "ab Staged")
}

func TestAListingWhoseConsumerStallsGivesItsConnectionBack(t *testing.T) {
	t.Parallel()
	store, _ := openStore(t, Options{MaxConns: 1})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, numberedIDs("s", 10)...)
	store.options.StreamStallTimeout = 10 * time.Millisecond
	visited := 0
	err := store.ListSplits(context.Background(), metastore.AllSplits(), func(*metastore.SplitRow) error {
		visited++
		// The only connection is ours until the store takes it away.
		return store.CheckConnectivity(context.Background())
	})
	expectKind(t, err, metastore.KindTimeout)
	if visited != 1 {
		t.Errorf("%d splits were visited", visited)
	}
	store.options.StreamStallTimeout = time.Minute
	if n := len(states(t, store)); n != 10 {
		t.Errorf("%d splits listed", n)
	}
}

func TestListingsLeaveConnectionsForOtherCalls(t *testing.T) {
	t.Parallel()
	store, _ := openStore(t, Options{MaxConns: 2})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a")
	err := store.ListSplits(context.Background(), metastore.AllSplits(), func(*metastore.SplitRow) error {
		stage(t, store, uid, "b") // a connection is free
		store.options.AcquireTimeout = time.Millisecond
		return store.ListSplits(context.Background(), metastore.AllSplits(), func(*metastore.SplitRow) error { return nil })
	})
	expectKind(t, err, metastore.KindUnavailable)
}

func TestAnErrorOfTheConsumerEndsTheListing(t *testing.T) {
	t.Parallel()
	store, _ := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	stage(t, store, uid, numberedIDs("s", 10)...)
	enough := errors.New("enough")
	visited := 0
	err := store.ListSplits(context.Background(), metastore.AllSplits(), func(*metastore.SplitRow) error {
		visited++
		return enough
	})
	if err != enough || visited != 1 {
		t.Errorf("got %v after %d splits", err, visited)
	}
}

func TestTagsAreStoredAndFoundWhateverTheyHold(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	uid := createIndex(t, store, "logs")
	tags := []string{"", " ", `"`, "$1", "'", ",", "NULL", "\n", `\`, "é", "{}", "{a,b}"}
	slices.Sort(tags)
	tagged := split("a")
	document := strings.Replace(tagged.Document(), `["tenant!","tenant:1"]`, `[""," ","\"","$1","'",",","NULL","\n","\\","é","{}","{a,b}"]`, 1)
	tagged, err := metastore.ParseSplitMetadata([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.StageSplits(context.Background(), metastore.StageSplitsRequest{IndexUID: uid, Splits: []metastore.SplitMetadata{tagged}}); err != nil {
		t.Fatal(err)
	}
	expect(t, queryValue[[]string](t, connect(t, dsn), "SELECT tags FROM splits"), tags...)
	for _, tag := range tags {
		if got := listIDs(t, store, &metastore.ListSplitsQuery{AllIndexes: true, Tags: &metastore.TagFilter{Tag: tag, Present: true}}); len(got) != 1 {
			t.Errorf("tag %q is not found", tag)
		}
	}
}
