package metastore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recordedNow is the time of the model where a recording says "<now>".
const recordedNow = 1_796_000_000

// deviation says what is expected of a step where PostgreSQL's recorded answer is not the one to give.
type deviation int

const (
	// asFileStore: the file store's answer is followed.
	asFileStore deviation = iota + 1
	// refused: the document does not parse, though the peer takes it.
	refused
	// otherwise: the answer is neither; another test says which.
	otherwise
)

// deviations are keyed by the scenario and the number of the step, counted from 0.
var deviations = map[string]deviation{
	// The file store filters by the create timestamp of the document, PostgreSQL by the time of staging.
	"split-list-ranges 24": asFileStore,
	"split-list-ranges 25": asFileStore,
	"split-list-ranges 26": asFileStore,
	// An opstamp bound above 2^63-1 crashes the peer on PostgreSQL.
	"split-list-ranges 28": asFileStore,
	// An id given twice in one batch fails the peer on PostgreSQL.
	"split-stage-batch 5":  asFileStore,
	"split-stage-batch 6":  asFileStore,
	"split-stage-batch 8":  asFileStore,
	"split-stage-batch 9":  asFileStore,
	"split-stage-batch 14": asFileStore,
	"split-stage-batch 19": asFileStore,
	// A ULID of more than 128 bits is folded by the peer.
	"split-stage-types 9":  refused,
	"split-stage-types 29": otherwise,
	// Unknown keys are kept, and a node id is cut at its first slash.
	"split-stage-values 6": otherwise,
	"split-stage-values 7": otherwise,
}

// replay is the smallest metastore that can follow the recorded calls: it believes the recorded
// outcome of every mutation and lists with the query's own filters and order.
type replay struct {
	*recordedIndexes
	t      *testing.T
	splits map[IndexUID]map[string]*Split
}

func TestRecordedCallsOnSplitsAreAnsweredAsThePeerDid(t *testing.T) {
	t.Parallel()
	for _, recorded := range readScenarios(t, "split-*.json") {
		t.Run(recorded.Name, func(t *testing.T) {
			t.Parallel()
			r := &replay{recordedIndexes: newRecordedIndexes(), t: t, splits: map[IndexUID]map[string]*Split{}}
			for i := range recorded.Steps {
				step := &recorded.Steps[i]
				r.play(fmt.Sprintf("%s %d", recorded.Name, i), step)
			}
		})
	}
}

func (r *replay) play(name string, step *recordedStep) {
	store := "postgres"
	if deviations[name] == asFileStore {
		store = "file"
	}
	answer := step.on(store)
	switch step.RPC {
	case "CreateIndex":
		var config struct {
			IndexID string `json:"index_id"`
		}
		document := r.document(r.t, step.Request["indexConfigJson"])
		require.NoError(r.t, json.Unmarshal([]byte(document), &config))
		r.splits[r.create(config.IndexID)] = map[string]*Split{}
		return
	case "ListSplits":
		r.list(name, step, answer)
		return
	case "StageSplits":
		r.stage(name, step, answer)
		return
	}
	if answer.Code != "OK" {
		return
	}
	uid := r.uid(r.t, step.Request["indexUid"])
	switch step.RPC {
	case "DeleteIndex":
		delete(r.splits, uid)
		r.delete(uid.IndexID)
	case "PublishSplits":
		for _, id := range r.strings(r.t, step.Request["stagedSplitIds"]) {
			split := r.splits[uid][id]
			split.State, split.UpdateTimestamp, split.PublishTimestamp = Published, recordedNow, Some(int64(recordedNow))
		}
		r.mark(uid, r.strings(r.t, step.Request["replacedSplitIds"]))
	case "MarkSplitsForDeletion":
		r.mark(uid, r.strings(r.t, step.Request["splitIds"]))
	case "DeleteSplits":
		for _, id := range r.strings(r.t, step.Request["splitIds"]) {
			delete(r.splits[uid], id)
		}
	case "UpdateSplitsDeleteOpstamp":
		for _, id := range r.strings(r.t, step.Request["splitIds"]) {
			if split := r.splits[uid][id]; split != nil {
				var opstamp json.Number
				if raw := step.Request["deleteOpstamp"]; raw != nil {
					require.NoError(r.t, json.Unmarshal(bytes.Trim(raw, `"`), &opstamp))
				}
				var n uint64
				_, err := fmt.Sscan(opstamp.String(), &n)
				require.NoError(r.t, err, name)
				split.Metadata = split.Metadata.WithDeleteOpstamp(n)
			}
		}
	}
}

func (r *replay) mark(uid IndexUID, ids []string) {
	for _, id := range ids {
		if split := r.splits[uid][id]; split != nil {
			split.State, split.UpdateTimestamp = MarkedForDeletion, recordedNow
		}
	}
}

func (r *replay) stage(name string, step *recordedStep, answer *recordedAnswer) {
	document := r.document(r.t, step.Request["splitMetadataListSerializedJson"])
	list, err := parseSplitMetadataList([]byte(document), func() int64 { return recordedNow })
	if answer.refusedAsJSON() || deviations[name] == refused {
		require.Error(r.t, err, "%s: %s", name, step.Note)
		return
	}
	require.NoError(r.t, err, "%s: %s", name, step.Note)
	uid := r.uid(r.t, step.Request["indexUid"])
	splits, err := PrepareStage(StageSplitsRequest{IndexUID: uid, Splits: list})
	if bytes.Contains(answer.Error, []byte(`"Db":`)) {
		require.ErrorIs(r.t, err, ErrInvalidArgument, "%s: %s", name, step.Note)
		return
	}
	require.NoError(r.t, err, "%s: %s", name, step.Note)
	if answer.Code != "OK" {
		return
	}
	for _, metadata := range splits {
		r.splits[uid][metadata.SplitID] = &Split{State: Staged, UpdateTimestamp: recordedNow, Metadata: metadata}
	}
}

func (r *replay) list(name string, step *recordedStep, answer *recordedAnswer) {
	query, err := ParseListSplitsQuery([]byte(r.document(r.t, step.Request["queryJson"])))
	if answer.refusedAsJSON() {
		require.Error(r.t, err, "%s: %s", name, step.Note)
		return
	}
	require.NoError(r.t, err, "%s: %s", name, step.Note)
	want := r.listed(r.t, answer)
	got := r.run(query, slices.ContainsFunc(want, func(split string) bool {
		return strings.Contains(split, `"create_timestamp":"<now>"`)
	}))
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], `"<now>"`, fmt.Sprint(recordedNow))
	}
	if query.SortBy == SortByNone && !query.Offset.Set {
		slices.Sort(want)
		slices.Sort(got)
	}
	if deviations[name] == otherwise {
		assert.NotEqual(r.t, want, got, "%s: %s", name, step.Note)
		return
	}
	assert.Equal(r.t, want, got, "%s: %s", name, step.Note)
}

// run lists the splits that match, as documents; hidden says that the recorded store has replaced the
// create timestamps by the time of staging.
func (r *replay) run(query *ListSplitsQuery, hidden bool) []string {
	type found struct {
		uid   IndexUID
		split *Split
	}
	var matching []found
	for uid, splits := range r.splits {
		if !query.AllIndexes && !slices.Contains(query.IndexUIDs, uid) {
			continue
		}
		for _, split := range splits {
			if query.Matches(uid, split) {
				matching = append(matching, found{uid, split})
			}
		}
	}
	slices.SortFunc(matching, func(a, b found) int { return query.Compare(a.uid, a.split, b.uid, b.split) })
	if query.Offset.Set {
		matching = matching[min(query.Offset.Value, uint64(len(matching))):]
	}
	if query.Limit.Set {
		matching = matching[:min(query.Limit.Value, uint64(len(matching)))]
	}
	var documents []string
	for _, m := range matching {
		row := m.split.Row()
		if hidden {
			text, err := PatchDocument(nil, row.Document, m.uid.String(), Some(int64(recordedNow)), m.split.Metadata.DeleteOpstamp)
			require.NoError(r.t, err)
			row.Document = string(text)
		}
		documents = append(documents, string(row.AppendJSON(nil)))
	}
	return documents
}
