package lineage

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"holdfast/metastore"
)

// realSet is what a real cluster had in its bucket and its metastore at one instant.
type realSet struct {
	Name     string `json:"name"`
	IndexUID string `json:"index_uid"`
	Objects  []struct {
		ID              string   `json:"id"`
		Legacy          bool     `json:"legacy"`
		IndexUID        string   `json:"index_uid"`
		SourceID        string   `json:"source_id"`
		DocMappingUID   string   `json:"doc_mapping_uid"`
		PartitionID     uint64   `json:"partition_id"`
		NumDocs         uint64   `json:"num_docs"`
		Start           *int64   `json:"start"`
		End             *int64   `json:"end"`
		CreateTimestamp int64    `json:"create_timestamp"`
		DeleteOpstamp   uint64   `json:"delete_opstamp"`
		NumMergeOps     uint64   `json:"num_merge_ops"`
		Parents         []string `json:"parents"`
		LastModified    int64    `json:"last_modified"`
	} `json:"objects"`
	Rows []struct {
		ID               string `json:"id"`
		State            string `json:"state"`
		PublishTimestamp *int64 `json:"publish_timestamp"`
	} `json:"rows"`
	Published []string `json:"published"`
}

func realSets(t *testing.T) []realSet {
	t.Helper()
	text, err := os.ReadFile("testdata/real_splits.json")
	if err != nil {
		t.Fatal(err)
	}
	var sets []realSet
	if err := json.Unmarshal(text, &sets); err != nil {
		t.Fatal(err)
	}
	return sets
}

func (s *realSet) objects(t *testing.T) []Object {
	t.Helper()
	var objects []Object
	for _, o := range s.Objects {
		if o.Legacy {
			objects = append(objects, Object{ID: o.ID, Content: Legacy, LastModified: o.LastModified})
			continue
		}
		uid, err := metastore.ParseIndexUID(o.IndexUID)
		if err != nil {
			t.Fatal(err)
		}
		mapping, err := metastore.ParseULID(o.DocMappingUID)
		if err != nil {
			t.Fatal(err)
		}
		object := Object{
			ID: o.ID, LastModified: o.LastModified, IndexUID: uid, SourceID: o.SourceID, DocMappingUID: mapping,
			PartitionID: o.PartitionID, NumDocs: o.NumDocs, CreateTimestamp: o.CreateTimestamp,
			DeleteOpstamp: o.DeleteOpstamp, NumMergeOps: o.NumMergeOps, Parents: o.Parents,
		}
		if o.Start != nil {
			object.TimeRange = metastore.Some(metastore.TimeRange{Start: *o.Start, End: *o.End})
		}
		objects = append(objects, object)
	}
	return objects
}

func (s *realSet) rows(t *testing.T) []Row {
	t.Helper()
	var rows []Row
	for _, r := range s.Rows {
		state, err := metastore.ParseSplitState(r.State)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, Row{ID: r.ID, State: state, PublishTimestampSet: r.PublishTimestamp != nil, EqualsObject: true})
	}
	return rows
}

func (s *realSet) options(t *testing.T) Options {
	t.Helper()
	uid, err := metastore.ParseIndexUID(s.IndexUID)
	if err != nil {
		t.Fatal(err)
	}
	return Options{IndexUID: metastore.IndexUID{IndexID: uid.IndexID}}
}

func (s *realSet) legacy() bool { return s.Objects[0].Legacy }

func TestTotalLossOfRealSplitsRebuildsThePublishedSet(t *testing.T) {
	t.Parallel()
	for _, set := range realSets(t) {
		t.Run(set.Name, func(t *testing.T) {
			t.Parallel()
			want := set.Published
			if set.legacy() {
				want = []string{} // young files without links: a person, or their content, decides
			}
			eachOrder(set.objects(t), nil, func(objects []Object, rows []Row) {
				plan := mustDecide(t, objects, rows, set.options(t))
				if got := published(plan); !slices.Equal(got, want) {
					t.Fatalf("published %v, want %v\n%s", got, want, decisionsText(plan))
				}
				if plan.IndexUID.String() != set.IndexUID && !set.legacy() {
					t.Fatalf("recovers %s, want %s", plan.IndexUID, set.IndexUID)
				}
			})
		})
	}
}

func TestRowsOfRealSplitsThatAreAllThereChangeNothing(t *testing.T) {
	t.Parallel()
	for _, set := range realSets(t) {
		t.Run(set.Name, func(t *testing.T) {
			t.Parallel()
			plan := mustDecide(t, set.objects(t), set.rows(t), set.options(t))
			for _, decision := range plan.Decisions {
				want := Marked
				if slices.Contains(set.Published, decision.ID) {
					want = AlreadyPublished
				}
				if decision.Kind != want {
					t.Errorf("%s is %s, want %s", decision.ID, decision.Kind, want)
				}
			}
			for _, finding := range plan.Findings {
				if finding.NeedsPerson {
					t.Errorf("finding %v", finding)
				}
			}
		})
	}
}

// A store that lost any rows at all, whatever their state, comes back to the published set.
func TestPartialLossOfRealSplitsRebuildsThePublishedSet(t *testing.T) {
	t.Parallel()
	for _, set := range realSets(t) {
		if set.legacy() {
			continue
		}
		t.Run(set.Name, func(t *testing.T) {
			t.Parallel()
			objects, rng := set.objects(t), rand.New(rand.NewPCG(1, 2))
			for range 500 {
				var rows []Row
				for _, row := range set.rows(t) {
					if rng.IntN(2) == 0 {
						rows = append(rows, row)
					}
				}
				plan := mustDecide(t, objects, rows, set.options(t))
				final := []string{}
				for _, decision := range plan.Decisions {
					if decision.Kind == Publish || decision.Kind == AlreadyPublished {
						final = append(final, decision.ID)
					}
				}
				if !slices.Equal(final, set.Published) {
					t.Fatalf("rows %v\npublished %v, want %v\n%s", rows, final, set.Published, decisionsText(plan))
				}
			}
		})
	}
}

// The store is an older backup: of each family it knows some generation, as Published, and nothing later.
func TestOlderBackupOfRealSplitsReplacesTheRowsItStillPublishes(t *testing.T) {
	t.Parallel()
	for _, set := range realSets(t) {
		if set.legacy() {
			continue
		}
		t.Run(set.Name, func(t *testing.T) {
			t.Parallel()
			objects := set.objects(t)
			slices.SortFunc(objects, func(a, b Object) int {
				return cmp.Or(
					cmp.Compare(a.CreateTimestamp, b.CreateTimestamp),
					cmp.Compare(a.NumMergeOps, b.NumMergeOps),
					cmp.Compare(a.DeleteOpstamp, b.DeleteOpstamp),
				)
			})
			options := set.options(t)
			options.RowsComplete = true
			for backup := range len(objects) + 1 {
				states := map[string]metastore.SplitState{}
				for _, object := range objects[:backup] {
					states[object.ID] = metastore.Published
					for _, p := range object.Parents {
						states[p] = metastore.MarkedForDeletion
					}
				}
				var rows []Row
				for id, state := range states {
					rows = append(rows, Row{ID: id, State: state, PublishTimestampSet: true})
				}
				plan := mustDecide(t, objects, rows, options)
				for _, decision := range plan.Decisions {
					if decision.Kind == Publish {
						states[decision.ID] = metastore.Published
					}
					for _, id := range decision.ReplacedSplitIDs {
						if states[id] != metastore.Published {
							t.Errorf("backup of %d: %s replaces %s, which is %s", backup, decision.ID, id, states[id])
						}
						states[id] = metastore.MarkedForDeletion
					}
				}
				var final []string
				for id, state := range states {
					if state == metastore.Published {
						final = append(final, id)
					}
				}
				slices.Sort(final)
				if !slices.Equal(final, set.Published) {
					t.Fatalf("backup of %d: published %v, want %v\n%s", backup, final, set.Published, decisionsText(plan))
				}
			}
		})
	}
}
