package lineage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/metastore"
)

func TestBadInputIsRefusedByName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		objects []Object
		rows    []Row
		change  func(*Options)
		want    string
	}{
		{name: "no index id", change: func(o *Options) { o.IndexUID = metastore.IndexUID{} }, want: "no index id"},
		{name: "alias of another index", change: func(o *Options) { o.Aliases = []metastore.IndexUID{{IndexID: "x"}} }, want: "alias x:"},
		{name: "negative time", change: func(o *Options) { o.ReferenceTime = -1 }, want: "reference time -1"},
		{name: "negative horizon", change: func(o *Options) { o.Horizon = -time.Hour }, want: "horizon -1h"},
		{name: "endless skew", change: func(o *Options) { o.ClockSkew = 1<<63 - 1 }, want: "clock skew"},
		{name: "unknown policy", change: func(o *Options) { o.YoungL0 = 9 }, want: "young L0 policy 9"},
		{name: "hidden links unchanged", change: func(o *Options) { o.HiddenLink = PublishUnchanged }, want: "hidden link policy 1"},
		{name: "object without an id", objects: []Object{{}}, want: "object 0 has an empty split id"},
		{name: "object given twice", objects: []Object{{ID: "P"}, {ID: "Q"}, {ID: "P"}}, want: `split id "P" is given by two objects`},
		{name: "row without an id", rows: []Row{{State: metastore.Staged}}, want: "row 0 has an empty split id"},
		{name: "row given twice", rows: rowsOf(t, "P=published P=marked"), want: `split id "P" is given by two rows`},
		{name: "row of no state", rows: []Row{{ID: "P"}}, want: `row "P" has the unknown state 0`},
	} {
		options := testOptions()
		if c.change != nil {
			c.change(&options)
		}
		plan, err := Decide(c.objects, c.rows, options)
		if err == nil || plan != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: plan %v, error %v, want one with %q", c.name, plan, err, c.want)
		}
	}
}

func TestNothingGivesAnEmptyPlan(t *testing.T) {
	t.Parallel()
	plan := mustDecide(t, nil, nil, testOptions())
	if len(plan.Decisions)+len(plan.Rows)+len(plan.Findings) != 0 {
		t.Fatalf("plan %+v", plan)
	}
}

func TestDecisionsAndReasonsHaveDistinctNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	check := func(name string) {
		if seen[name] || strings.Contains(name, "(") || name != strings.ToLower(name) {
			t.Errorf("name %q", name)
		}
		seen[name] = true
	}
	for k := Publish; k <= Wait; k++ {
		check("kind " + k.String())
	}
	for r := ReasonUnlisted; r <= ReasonSeenOnce; r++ {
		check("reason " + r.String())
	}
	for k := RowReplaced; k <= RowWithoutObject; k++ {
		check("row " + k.String())
	}
	if got := fmt.Sprint(Kind(0), Reason(200), RowKind(9)); got != "Kind(0) Reason(200) RowKind(9)" {
		t.Errorf("unknown names: %s", got)
	}
}

// One split may list very many, and very many may compete for one parent.
func TestVeryLargeFamiliesAreDecidedInShortTimeAndFewWords(t *testing.T) {
	t.Parallel()
	const many = 20_000
	var objects []Object
	wide := Object{ID: "wide", IndexUID: testUID, NumMergeOps: 1}
	for i := range many {
		id := fmt.Sprintf("p%06d", i)
		wide.Parents = append(wide.Parents, id)
		wide.NumDocs += 2
		objects = append(objects, Object{ID: id, IndexUID: testUID, NumDocs: 1}) // half of what the list says
		objects = append(objects, Object{ID: "r" + id, IndexUID: testUID, Parents: []string{"shared"}, DeleteOpstamp: uint64(i + 1)})
	}
	plan := mustDecide(t, append(objects, wide), nil, testOptions())
	counts := map[Kind]int{}
	for _, d := range plan.Decisions {
		counts[d.Kind]++
		if len(d.Evidence) > evidenceLimit+1 {
			t.Fatalf("%s has %d ids for evidence", d.ID, len(d.Evidence))
		}
	}
	if counts[Inconsistent] != many+1 || counts[Publish] != 1 || counts[Orphan] != many-1 {
		t.Fatalf("decisions %v", counts)
	}
}
