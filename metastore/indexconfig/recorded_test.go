package indexconfig_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore/indexconfig"
)

// The recordings of the real peer; see testdata/wire/README.md.

type scenario struct {
	Name  string
	Steps []step
}

type step struct {
	RPC            string
	Note           string
	Request        map[string]json.RawMessage
	Answer         *answer
	AnswerFile     *answer `json:"answer_file"`
	AnswerPostgres *answer `json:"answer_postgres"`
}

type answer struct {
	Code      string
	QwError   map[string]json.RawMessage `json:"qw_error"`
	Responses []map[string]json.RawMessage
}

// answered returns the answer, that of the file-backed store where they differ.
func (s step) answered() *answer {
	if s.Answer != nil {
		return s.Answer
	}
	return s.AnswerFile
}

// refused reports whether the peer refused a document of the request.
func (a *answer) refused() bool {
	_, found := a.QwError["JsonDeserializeError"]
	return found
}

// crashed reports whether the peer's handler crashed before it read anything.
func (a *answer) crashed() bool { return a.Code == "Canceled" }

func recordedScenarios(t testing.TB) []scenario {
	t.Helper()
	paths, err := filepath.Glob("testdata/wire/*.json")
	if err != nil {
		t.Fatal(err)
	}
	var scenarios []scenario
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(text, []byte("[")) {
			var several []scenario
			err = json.Unmarshal(text, &several)
			scenarios = append(scenarios, several...)
		} else {
			var one scenario
			err = json.Unmarshal(text, &one)
			scenarios = append(scenarios, one)
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	return scenarios
}

// document returns the text that a placeholder of a request stands for.
func document(t testing.TB, placeholder json.RawMessage) []byte {
	t.Helper()
	if placeholder == nil {
		return nil
	}
	var form map[string]json.RawMessage
	if err := json.Unmarshal(placeholder, &form); err != nil {
		t.Fatalf("%s: %v", placeholder, err)
	}
	if value, found := form["$json"]; found {
		return compact(t, value)
	}
	var text string
	if err := json.Unmarshal(form["$raw"], &text); err != nil {
		t.Fatalf("%s: %v", placeholder, err)
	}
	return []byte(text)
}

func documents(t testing.TB, placeholders json.RawMessage) [][]byte {
	t.Helper()
	var list []json.RawMessage
	if placeholders != nil {
		if err := json.Unmarshal(placeholders, &list); err != nil {
			t.Fatal(err)
		}
	}
	texts := make([][]byte, len(list))
	for i, placeholder := range list {
		texts[i] = document(t, placeholder)
	}
	return texts
}

func compact(t testing.TB, value []byte) []byte {
	t.Helper()
	var text bytes.Buffer
	if err := json.Compact(&text, value); err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	return text.Bytes()
}

// recordedMetadata is the part of an answered IndexMetadata that this package
// writes.
type recordedMetadata struct {
	IndexConfig json.RawMessage `json:"index_config"`
	Sources     []json.RawMessage
}

// metadata returns the index metadata that a step answered.
func (s step) metadata(t testing.TB) *recordedMetadata {
	t.Helper()
	a := s.answered()
	if a.Code != "OK" || len(a.Responses) != 1 {
		return nil
	}
	for _, field := range []string{"indexMetadataJson", "indexMetadataSerializedJson"} {
		if placeholder, found := a.Responses[0][field]; found {
			var metadata recordedMetadata
			if err := json.Unmarshal(document(t, placeholder), &metadata); err != nil {
				t.Fatal(err)
			}
			return &metadata
		}
	}
	return nil
}

// deviations are the steps where this package decides otherwise than the peer
// did, on purpose.
var deviations = map[string]string{
	"index-create-doc-mapping 16": "H36: a doc mapping uid of more than 128 bits is refused, not read as another uid",
	"index-update-unvalidated 1":  "H9: an update that cannot be read back is refused: retention without timestamp field",
	"index-update-unvalidated 7":  "H9: default search field that is not declared, strict mode",
	"index-update-unvalidated 13": "H9: max_merge_factor below merge_factor",
	"index-update-unvalidated 18": "H9: retention period that does not parse",
	"index-update-unvalidated 22": "H9: retention schedule that does not parse",
}

// replay keeps what the recorded server held, as this package reads it.
type replay struct {
	*testing.T
	name    string // of the step
	uids    int    // drawn
	indexes map[string]*replayedIndex
	met     map[string]bool // deviations
	// compared counts the documents compared with recorded ones.
	compared *int
}

type replayedIndex struct {
	config  *indexconfig.IndexConfig
	sources map[string]*indexconfig.SourceConfig
}

func (r *replay) newUID() ulid.ULID {
	r.uids++
	return ulid.MustParse(fmt.Sprintf("01ZZ%022d", r.uids))
}

func (r *replay) deviates() bool {
	_, found := deviations[r.name]
	if found {
		r.met[r.name] = true
	}
	return found
}

// TestRecordedCallsAreDecidedAndAnsweredLikeThePeer plays every recorded call
// that carries a document of this package, and compares what is refused and, byte
// for byte, every index config and source config that the peer answered.
func TestRecordedCallsAreDecidedAndAnsweredLikeThePeer(t *testing.T) {
	t.Parallel()
	calls := map[string]int{}
	met, compared := map[string]bool{}, 0
	for _, scenario := range recordedScenarios(t) {
		r := &replay{T: t, indexes: map[string]*replayedIndex{}, met: met, compared: &compared}
		for i, step := range scenario.Steps {
			calls[step.RPC]++
			r.name = fmt.Sprintf("%s %d", scenario.Name, i)
			if !step.answered().crashed() {
				r.step(step)
			}
		}
	}
	for rpc, want := range map[string]int{"CreateIndex": 446, "UpdateIndex": 107, "AddSource": 117, "UpdateSource": 18} {
		if calls[rpc] != want {
			t.Errorf("played %d calls of %s, recorded are %d", calls[rpc], rpc, want)
		}
	}
	if want := 712; compared != want {
		t.Errorf("compared %d documents, recorded are %d", compared, want)
	}
	if !maps.EqualFunc(deviations, met, func(string, bool) bool { return true }) {
		t.Errorf("deviations listed: %v\nmet: %v", deviations, met)
	}
}

func (r *replay) step(s step) {
	a := s.answered()
	switch s.RPC {
	case "CreateIndex":
		r.createIndex(s, a)
	case "UpdateIndex":
		r.updateIndex(s, a)
	case "AddSource", "UpdateSource":
		config, err := indexconfig.ParseSourceConfig(document(r, s.Request["sourceConfigJson"]))
		if r.compareOutcome(a, err) && a.Code == "OK" {
			r.index(s).sources[config.SourceID] = config
		}
	case "ToggleSource":
		if id := text(s.Request["sourceId"]); a.Code == "OK" {
			sources := r.index(s).sources
			sources[id] = sources[id].WithEnabled(text(s.Request["enable"]) == "true")
		}
	case "DeleteSource":
		if a.Code == "OK" {
			delete(r.index(s).sources, text(s.Request["sourceId"]))
		}
	}
	if metadata := s.metadata(r); metadata != nil {
		r.compareMetadata(metadata)
	}
}

func (r *replay) createIndex(s step, a *answer) {
	config, err := indexconfig.ParseIndexConfig(document(r, s.Request["indexConfigJson"]), r.newUID)
	sources := map[string]*indexconfig.SourceConfig{}
	for _, source := range documents(r, s.Request["sourceConfigsJson"]) {
		if err == nil {
			var parsed *indexconfig.SourceConfig
			if parsed, err = indexconfig.ParseSourceConfig(source); err == nil {
				sources[parsed.SourceID] = parsed
			}
		}
	}
	if r.deviates() {
		if err == nil {
			r.Errorf("%s: accepted", r.name)
		}
		return
	}
	if r.compareOutcome(a, err) && a.Code == "OK" {
		r.indexes[config.IndexID] = &replayedIndex{config, sources}
	}
}

func (r *replay) updateIndex(s step, a *answer) {
	update, err := parseUpdate(r, s)
	if !r.compareOutcome(a, err) || a.Code == "NotFound" {
		return
	}
	index := r.index(s)
	updated, changed, err := index.config.Update(update)
	var refused *indexconfig.UpdateError
	if err != nil && !errors.As(err, &refused) {
		r.Errorf("%s: error %v of type %T", r.name, err, err)
	}
	if r.deviates() {
		if err == nil {
			r.Errorf("%s: accepted", r.name)
		}
		// Go on with what the peer stored, which must be readable and repairable.
		stored, err := indexconfig.ParseStoredIndexConfig(s.metadata(r).IndexConfig)
		if err != nil {
			r.Fatalf("%s: what the peer stored is not readable: %v", r.name, err)
		}
		index.config = stored
		return
	}
	if (err == nil) != (a.Code == "OK") {
		r.Errorf("%s: %v, the peer answered %s", r.name, err, a.Code)
	}
	if err == nil {
		if same := updated.Equal(index.config); changed == same {
			r.Errorf("%s: changed is %v although equal is %v", r.name, changed, same)
		}
		index.config = updated
	}
}

func parseUpdate(t testing.TB, s step) (indexconfig.Update, error) {
	var u indexconfig.Update
	mapping, err1 := indexconfig.ParseDocMapping(document(t, s.Request["docMappingJson"]), ulid.Make)
	indexing, err2 := indexconfig.ParseIndexingSettings(document(t, s.Request["indexingSettingsJson"]))
	ingest, err3 := indexconfig.ParseIngestSettings(document(t, s.Request["ingestSettingsJson"]))
	search, err4 := indexconfig.ParseSearchSettings(document(t, s.Request["searchSettingsJson"]))
	var err5 error
	if policy, found := s.Request["retentionPolicyJsonOpt"]; found {
		u.Retention, err5 = indexconfig.ParseRetentionPolicy(document(t, policy))
	}
	for _, err := range []error{err1, err2, err3, err4, err5} {
		if err != nil {
			return u, err
		}
	}
	u.DocMapping, u.IndexingSettings, u.IngestSettings, u.SearchSettings = *mapping, *indexing, *ingest, *search
	return u, nil
}

// compareOutcome compares the error of parsing with the peer's decision and
// reports whether both accepted.
func (r *replay) compareOutcome(a *answer, err error) (accepted bool) {
	if (err != nil) != a.refused() {
		r.Errorf("%s: error %v, the peer answered %s %s", r.name, err, a.Code, a.QwError)
	}
	if err != nil && (len(err.Error()) > 700 || strings.Contains(err.Error(), "\n")) {
		r.Errorf("%s: message is not one short line: %q", r.name, err)
	}
	return err == nil && !a.refused()
}

// index returns the index that a request names by its uid.
func (r *replay) index(s step) *replayedIndex {
	reference := text(s.Request["indexUid"])
	_, id, _ := strings.Cut(reference, ":")
	index := r.indexes[id]
	if index == nil {
		r.Fatalf("%s: no index for %s", r.name, s.Request["indexUid"])
	}
	return index
}

func (r *replay) compareMetadata(metadata *recordedMetadata) {
	var id struct {
		IndexID string `json:"index_id"`
	}
	if err := json.Unmarshal(metadata.IndexConfig, &id); err != nil {
		r.Fatal(err)
	}
	index := r.indexes[id.IndexID]
	if index == nil {
		return // created by a step that deviates
	}
	r.compareText("index config", index.config.AppendJSON(nil), metadata.IndexConfig)
	if len(metadata.Sources) != len(index.sources) {
		r.Errorf("%s: %d sources, the peer has %d", r.name, len(index.sources), len(metadata.Sources))
	}
	for _, recorded := range metadata.Sources {
		stored, err := indexconfig.ParseStoredSourceConfig(recorded)
		if err != nil {
			r.Fatal(err)
		}
		source := index.sources[stored.SourceID]
		if source == nil {
			r.Errorf("%s: source %s is missing", r.name, stored.SourceID)
			continue
		}
		r.compareText("source config", source.AppendJSON(nil), recorded)
		if !source.Equal(stored) || source.UsesShards() != stored.UsesShards() || !stored.Readable() {
			r.Errorf("%s: source %s read back differs", r.name, stored.SourceID)
		}
	}
}

func (r *replay) compareText(what string, got, want []byte) {
	*r.compared++
	const drawn = `"doc_mapping_uid":"<ulid>"`
	if bytes.Contains(want, []byte(drawn)) {
		at := bytes.Index(got, []byte(`"doc_mapping_uid":`))
		got = bytes.Replace(got, got[at:at+len(`"doc_mapping_uid":""`)+ulid.EncodedSize], []byte(drawn), 1)
	}
	if !bytes.Equal(got, want) {
		r.Errorf("%s: %s\n     %s\nwant %s", r.name, what, got, want)
	}
}

func text(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return string(value)
	}
	return s
}
