package lineage

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"holdfast/metastore"
)

// What a bucket holds need not come from a cluster: lists may form circles, name the split itself or
// anything else, and rows may say what they like. Whatever the plan is, carrying it out contradicts
// nothing: no split is published over a row, no row is replaced twice, no two published splits have a
// listed ancestor in common, and the order of arrival does not matter.
func TestAnyGraphGivesAPlanThatCanBeCarriedOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		objects, rows, options := anyGraph(t)
		plan, err := Decide(objects, rows, options)
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Decisions) != len(objects) {
			t.Fatalf("%d decisions for %d objects", len(plan.Decisions), len(objects))
		}
		if _, failure := apply(rows, plan, func(int) bool { return true }); failure != "" {
			t.Fatal(failure)
		}
		parents := map[string][]string{}
		for _, object := range objects {
			if object.Content == WithEntry {
				parents[object.ID] = object.Parents
			}
		}
		owner := map[string]string{}
		for _, id := range published(plan) {
			for _, ancestor := range ancestors(parents, id) {
				if other, taken := owner[ancestor]; taken {
					t.Fatalf("%s and %s are published and descend from %s\n%s", other, id, ancestor, decisionsText(plan))
				}
				owner[ancestor] = id
			}
		}
		slices.Reverse(objects)
		slices.Reverse(rows)
		if again := mustDecideAny(t, objects, rows, options); wholeText(again) != wholeText(plan) {
			t.Fatalf("reversed:\n%s\nbefore:\n%s", wholeText(again), wholeText(plan))
		}
	})
}

func mustDecideAny(t *rapid.T, objects []Object, rows []Row, options Options) *Plan {
	plan, err := Decide(objects, rows, options)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// ancestors includes the split itself.
func ancestors(parents map[string][]string, id string) []string {
	seen := []string{id}
	for i := 0; i < len(seen); i++ {
		for _, p := range parents[seen[i]] {
			if !slices.Contains(seen, p) {
				seen = append(seen, p)
			}
		}
	}
	return seen
}

func anyGraph(t *rapid.T) ([]Object, []Row, Options) {
	ids := make([]string, rapid.IntRange(0, 14).Draw(t, "ids"))
	for i := range ids {
		ids[i] = fmt.Sprint("s", i)
	}
	number := func(most int, label string) uint64 { return uint64(rapid.IntRange(0, most).Draw(t, label)) }
	loose := rapid.Bool().Draw(t, "loose") // metadata that fits nothing, or that fits most lists
	var objects []Object
	var rows []Row
	for i, id := range ids {
		if rapid.IntRange(0, 4).Draw(t, "present") > 0 {
			object := Object{
				ID: id, Content: [...]Content{WithEntry, WithEntry, WithEntry, WithEntry, Legacy, Unreadable}[number(5, "content")],
				LastModified: now - int64(number(60, "age"))*hour, IndexUID: testUID, SourceID: "source",
			}
			object.CreateTimestamp = object.LastModified - int64(number(2, "upload"))*hour/8
			from := 0
			if !loose {
				from = i + 1
			}
			for range number(3, "parents") {
				if from < len(ids) {
					object.Parents = append(object.Parents, ids[rapid.IntRange(from, len(ids)-1).Draw(t, "parent")])
				}
			}
			if loose {
				object.NumDocs, object.NumMergeOps, object.DeleteOpstamp = number(3, "docs"), number(2, "ops"), number(2, "opstamp")
			} else {
				// Rewrites of splits without documents, later ones of later opstamps.
				object.DeleteOpstamp = uint64(len(ids) - i)
				object.Parents = object.Parents[:min(1, len(object.Parents))]
			}
			objects = append(objects, object)
		}
		if state := number(5, "state"); state > 0 && state <= 3 {
			rows = append(rows, Row{
				ID: id, State: metastore.SplitState(state), PublishTimestampSet: state == 2 || number(1, "published") == 1,
				EqualsObject: number(1, "equal") == 1, Ours: number(1, "ours") == 1,
			})
		}
	}
	options := testOptions()
	options.GCHealthy, options.AdoptStaged, options.RowsComplete = number(1, "healthy") == 1, number(1, "adopt") == 1, number(1, "complete") == 1
	options.Live, options.LiveRecover = number(5, "live") == 0, true
	for i := range objects {
		objects[i].RowlessTwice = options.Live
	}
	return objects, rows, options
}
