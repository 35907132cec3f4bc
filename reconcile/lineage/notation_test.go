package lineage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"holdfast/metastore"
)

// The times of the tests, in seconds. now is the reference time.
const (
	hour = int64(3600)
	now  = 1_000_000 * hour
)

var testUID = metastore.IndexUID{IndexID: "logs", Incarnation: [16]byte{15: 7}}

// drawn is a set of objects in a notation close to that of the procedure: words of
//
//	P         an object without parents, young
//	C=P+Q     a merge of P and Q; a delete rewrite if there is one parent
//	P@30      the object was made 30 hours before the loss
//	-C=P+Q    C is known to the notation, so that its children get the right metadata, and is gone
//	P?        an object without a recovery entry
//	P~        an object that cannot be read
//	P:7       of partition 7
//
// Splits without parents hold 10 documents, a rewrite one less than its parent. The metadata is what a
// writer makes of it. Later words are created later.
func drawn(t testing.TB, text string) []Object {
	t.Helper()
	known := map[string]Object{}
	var present []Object
	for i, word := range strings.Fields(text) {
		object := Object{IndexUID: testUID, SourceID: "source", NumDocs: 10, CreateTimestamp: now - hour + int64(i)}
		word, gone := strings.CutPrefix(word, "-")
		id, parents, _ := strings.Cut(word, "=")
		if rest, partition, found := strings.Cut(id, ":"); found {
			id = rest
			scan(t, partition, &object.PartitionID)
		}
		if rest, hours, found := strings.Cut(id, "@"); found {
			id = rest
			scan(t, hours, &object.CreateTimestamp)
			object.CreateTimestamp = now - object.CreateTimestamp*hour + int64(i)
		}
		if rest, found := strings.CutSuffix(id, "?"); found {
			id, object.Content = rest, Legacy
		}
		if rest, found := strings.CutSuffix(id, "~"); found {
			id, object.Content = rest, Unreadable
		}
		object.ID, object.LastModified = id, object.CreateTimestamp
		if parents != "" {
			object.Parents = strings.Split(parents, "+")
			object.NumDocs = 0
			for _, p := range object.Parents {
				parent, defined := known[p]
				if !defined {
					parent.NumDocs = 10
				}
				object.NumDocs += parent.NumDocs
				object.NumMergeOps = max(object.NumMergeOps, parent.NumMergeOps)
				object.DeleteOpstamp = max(object.DeleteOpstamp, parent.DeleteOpstamp)
			}
			if len(object.Parents) == 1 {
				object.NumDocs--
				object.DeleteOpstamp++
			} else {
				object.NumMergeOps++
			}
		}
		known[id] = object
		if !gone {
			present = append(present, object)
		}
	}
	return present
}

func scan(t testing.TB, text string, value any) {
	t.Helper()
	if _, err := fmt.Sscan(text, value); err != nil {
		t.Fatalf("notation %q: %v", text, err)
	}
}

// rowsOf reads "P=published C=staged D=marked E=marked-unpublished F=staged-equal G=staged-ours".
func rowsOf(t testing.TB, text string) []Row {
	t.Helper()
	var rows []Row
	for word := range strings.FieldsSeq(text) {
		id, state, _ := strings.Cut(word, "=")
		row := Row{ID: id}
		switch state {
		case "published":
			row.State, row.PublishTimestampSet = metastore.Published, true
		case "marked":
			row.State, row.PublishTimestampSet = metastore.MarkedForDeletion, true
		case "marked-unpublished":
			row.State = metastore.MarkedForDeletion
		case "staged":
			row.State = metastore.Staged
		case "staged-equal":
			row.State, row.EqualsObject = metastore.Staged, true
		case "staged-ours":
			row.State, row.EqualsObject, row.Ours = metastore.Staged, true, true
		default:
			t.Fatalf("notation %q has the unknown state %q", word, state)
		}
		rows = append(rows, row)
	}
	return rows
}

func testOptions() Options { return Options{IndexUID: testUID, ReferenceTime: now} }

func mustDecide(t testing.TB, objects []Object, rows []Row, options Options) *Plan {
	t.Helper()
	plan, err := Decide(objects, rows, options)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// decisionsText writes one line a decision: "C publish only-child flag,flag mature staged <evidence> replaces P,Q".
func decisionsText(plan *Plan) string {
	var lines []string
	for _, d := range plan.Decisions {
		words := []string{d.ID, d.Kind.String(), d.Reason.String()}
		if names := d.Flags.Names(); names != nil {
			words = append(words, "["+strings.Join(names, ",")+"]")
		}
		if d.ForceMature {
			words = append(words, "mature")
		}
		if d.AlreadyStaged {
			words = append(words, "already-staged")
		}
		if len(d.Evidence) > 0 {
			words = append(words, "<"+strings.Join(d.Evidence, ",")+">")
		}
		if len(d.ReplacedSplitIDs) > 0 {
			words = append(words, "replaces "+strings.Join(d.ReplacedSplitIDs, ","))
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, "\n")
}

func findingsText(plan *Plan) []string {
	var lines []string
	for _, f := range plan.Findings {
		lines = append(lines, strings.TrimSpace(string(f.Code)+" "+strings.Join(f.IDs, ",")))
	}
	return lines
}

func published(plan *Plan) []string {
	ids := []string{}
	for _, d := range plan.Decisions {
		if d.Kind == Publish {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// wholeText is everything a plan says, to compare plans.
func wholeText(plan *Plan) string {
	return fmt.Sprintf("%s\n%v\n%v\n%v", decisionsText(plan), plan.Rows, plan.Findings, plan.IndexUID)
}

// eachOrder calls check with the objects and rows in every order, or in many when there are too many.
func eachOrder(objects []Object, rows []Row, check func([]Object, []Row)) {
	const all = 6
	if len(objects) <= all {
		permute(slices.Clone(objects), 0, func(order []Object) { check(order, rows) })
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(objects))))
	for range 200 {
		objects, rows := slices.Clone(objects), slices.Clone(rows)
		rng.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		check(objects, rows)
	}
}

func permute(objects []Object, from int, check func([]Object)) {
	if from == len(objects) {
		check(objects)
		return
	}
	for i := from; i < len(objects); i++ {
		objects[from], objects[i] = objects[i], objects[from]
		permute(objects, from+1, check)
		objects[from], objects[i] = objects[i], objects[from]
	}
}
