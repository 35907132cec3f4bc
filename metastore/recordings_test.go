package metastore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
)

// scenario is a sequence of calls that a real server of the peer answered, on each of its two stores.
type scenario struct {
	Name  string         `json:"name"`
	Steps []recordedStep `json:"steps"`
}

type recordedStep struct {
	RPC            string                     `json:"rpc"`
	Request        map[string]json.RawMessage `json:"request"`
	Note           string                     `json:"note"`
	Answer         *recordedAnswer            `json:"answer"`
	AnswerFile     *recordedAnswer            `json:"answer_file"`
	AnswerPostgres *recordedAnswer            `json:"answer_postgres"`
}

type recordedAnswer struct {
	Code      string                       `json:"code"`
	Error     json.RawMessage              `json:"qw_error"`
	Responses []map[string]json.RawMessage `json:"responses"`
}

// on returns the answer of one store, "file" or "postgres".
func (s *recordedStep) on(store string) *recordedAnswer {
	switch {
	case s.Answer != nil:
		return s.Answer
	case store == "file":
		return s.AnswerFile
	default:
		return s.AnswerPostgres
	}
}

// refusedAsJSON reports whether the answer says that a document of the request does not parse.
func (a *recordedAnswer) refusedAsJSON() bool {
	return bytes.HasPrefix(bytes.TrimSpace(a.Error), []byte(`{"JsonDeserializeError"`)) ||
		bytes.Contains(a.Error, []byte(`"JsonDeserializeError":`))
}

func readScenarios(tb testing.TB, pattern string) []scenario {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", "wire", pattern))
	require.NoError(tb, err)
	require.NotEmpty(tb, names)
	scenarios := make([]scenario, len(names))
	for i, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(tb, err)
		require.NoError(tb, json.Unmarshal(text, &scenarios[i]), name)
	}
	return scenarios
}

// recordedIndexes gives the placeholders of a scenario their index UIDs.
type recordedIndexes struct {
	uids, old map[string]IndexUID
	created   byte
}

func newRecordedIndexes() *recordedIndexes {
	return &recordedIndexes{uids: map[string]IndexUID{}, old: map[string]IndexUID{}}
}

func (x *recordedIndexes) create(indexID string) IndexUID {
	x.created++
	uid := IndexUID{IndexID: indexID, Incarnation: ulid.ULID{1, 0x9f, 15: x.created}}
	x.uids[indexID] = uid
	return uid
}

func (x *recordedIndexes) delete(indexID string) {
	x.old[indexID] = x.uids[indexID]
	delete(x.uids, indexID)
}

var uidPlaceholder = regexp.MustCompile(`\$\{(uid|old):([^}]*)\}`)

func (x *recordedIndexes) expand(text string) string {
	return uidPlaceholder.ReplaceAllStringFunc(text, func(found string) string {
		parts := uidPlaceholder.FindStringSubmatch(found)
		return x.lookup(parts[1], parts[2]).String()
	})
}

func (x *recordedIndexes) lookup(kind, name string) IndexUID {
	if kind == "old" {
		return x.old[name]
	}
	if uid, ok := x.uids[name]; ok {
		return uid
	}
	return x.old[name]
}

// uid reads the field indexUid of a request.
func (x *recordedIndexes) uid(tb testing.TB, raw json.RawMessage) IndexUID {
	tb.Helper()
	var name string
	if json.Unmarshal(raw, &name) != nil {
		return IndexUID{IndexID: "spelled out in the request"}
	}
	kind, indexID, found := strings.Cut(strings.TrimPrefix(name, "$"), ":")
	require.True(tb, found, name)
	return x.lookup(kind, indexID)
}

// document returns the text of a string field that holds a document: compact, placeholders replaced.
func (x *recordedIndexes) document(tb testing.TB, raw json.RawMessage) string {
	tb.Helper()
	if len(raw) == 0 {
		return ""
	}
	var plain string
	if json.Unmarshal(raw, &plain) == nil {
		return x.expand(plain)
	}
	var field struct {
		JSON json.RawMessage `json:"$json"`
		Raw  *string         `json:"$raw"`
	}
	require.NoError(tb, json.Unmarshal(raw, &field))
	if field.Raw != nil {
		return x.expand(*field.Raw)
	}
	require.NotEmpty(tb, field.JSON)
	value := jsontext.Value(expandRepeats(tb, field.JSON))
	require.NoError(tb, value.Format(jsontext.AllowDuplicateNames(true)))
	return x.expand(string(value))
}

// strings reads a list of strings, in which a repetition may stand for many.
func (x *recordedIndexes) strings(tb testing.TB, raw json.RawMessage) []string {
	tb.Helper()
	if len(raw) == 0 {
		return nil
	}
	var texts []string
	require.NoError(tb, json.Unmarshal(expandRepeats(tb, raw), &texts))
	for i := range texts {
		texts[i] = x.expand(texts[i])
	}
	return texts
}

// expandRepeats replaces {"$repeat":n,"from":k,"item":x} in an array by n copies.
func expandRepeats(tb testing.TB, raw json.RawMessage) json.RawMessage {
	tb.Helper()
	var elements []json.RawMessage
	if !bytes.Contains(raw, []byte(`"$repeat"`)) {
		return raw
	}
	require.NoError(tb, json.Unmarshal(raw, &elements))
	var expanded []json.RawMessage
	for _, element := range elements {
		var repeat struct {
			Count int             `json:"$repeat"`
			From  int             `json:"from"`
			Item  json.RawMessage `json:"item"`
		}
		if json.Unmarshal(element, &repeat) != nil || repeat.Count == 0 {
			expanded = append(expanded, element)
			continue
		}
		for i := repeat.From; i < repeat.From+repeat.Count; i++ {
			item := strings.ReplaceAll(string(repeat.Item), "${i3}", fmt.Sprintf("%03d", i))
			expanded = append(expanded, json.RawMessage(strings.ReplaceAll(item, "${i}", strconv.Itoa(i))))
		}
	}
	text, err := json.Marshal(expanded)
	require.NoError(tb, err)
	return text
}

// listed returns the recorded split documents of a ListSplits answer, each as compact text.
func (x *recordedIndexes) listed(tb testing.TB, answer *recordedAnswer) []string {
	tb.Helper()
	var splits []string
	for _, response := range answer.Responses {
		var elements []json.RawMessage
		require.NoError(tb, json.Unmarshal([]byte(x.document(tb, response["splitsSerializedJson"])), &elements))
		for _, element := range elements {
			splits = append(splits, string(element))
		}
	}
	return splits
}

// realSplits returns n metadata documents that a real indexer wrote, in an array.
func realSplits(tb testing.TB, n int) []byte {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "rows", "web-access.json"))
	require.NoError(tb, err)
	var documents []jsontext.Value
	require.NoError(tb, json.Unmarshal(text, (*[]jsontext.Value)(&documents)))
	require.NotEmpty(tb, documents)
	list := []byte{'['}
	for i := range n {
		if i > 0 {
			list = append(list, ',')
		}
		document := documents[i%len(documents)].Clone()
		require.NoError(tb, document.Compact())
		list = append(list, document...)
	}
	return append(list, ']')
}
