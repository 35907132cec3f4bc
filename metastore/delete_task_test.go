package metastore

import (
	"math"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
)

var taskIndexUID = IndexUID{IndexID: "web-access", Incarnation: ulid.MustParse("01J9ZJX0A1B2C3D4E5F6G7H8J9")}

func TestADeleteTaskIsWrittenAsThePeerWritesIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		task     DeleteTask
		document string
	}{
		{"one bound", DeleteTask{CreateTimestamp: 1787311111, Opstamp: 4, Query: DeleteQuery{
			IndexUID: taskIndexUID, EndTimestamp: Some[int64](1787000000), QueryAST: `{"type":"term","value":"42"}`}},
			`{"create_timestamp":1787311111,"opstamp":4,"delete_query":{"index_uid":"web-access:01J9ZJX0A1B2C3D4E5F6G7H8J9",` +
				`"end_timestamp":1787000000,"query_ast":"{\"type\":\"term\",\"value\":\"42\"}"}}`},
		{"the ends of the ranges, no query", DeleteTask{CreateTimestamp: -1, Opstamp: math.MaxUint64, Query: DeleteQuery{
			IndexUID: taskIndexUID, StartTimestamp: Some[int64](math.MinInt64), EndTimestamp: Some[int64](0)}},
			`{"create_timestamp":-1,"opstamp":18446744073709551615,"delete_query":{"index_uid":"web-access:01J9ZJX0A1B2C3D4E5F6G7H8J9",` +
				`"start_timestamp":-9223372036854775808,"end_timestamp":0,"query_ast":""}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.document, string(c.task.AppendJSON(nil)))
			read, err := ParseDeleteTask([]byte(c.document))
			require.NoError(t, err)
			require.Equal(t, c.task, read)
		})
	}
}

func TestADeleteQueryOfAnOlderReleaseIsRead(t *testing.T) {
	t.Parallel()
	read, err := ParseDeleteQuery([]byte(`{"index_id":"web-access:01J9ZJX0A1B2C3D4E5F6G7H8J9","start_timestamp":null,"query":"x","more":[1]}`))
	require.NoError(t, err)
	require.Equal(t, DeleteQuery{IndexUID: taskIndexUID, QueryAST: "x"}, read)
}

func TestADeleteTaskWithoutQueryIsRead(t *testing.T) {
	t.Parallel()
	for _, document := range []string{`{"create_timestamp":1,"opstamp":2}`, `{"opstamp":2,"delete_query":null,"create_timestamp":1}`} {
		read, err := ParseDeleteTask([]byte(document))
		require.NoError(t, err)
		require.Equal(t, DeleteTask{CreateTimestamp: 1, Opstamp: 2}, read)
	}
}

func TestADocumentOfADeleteTaskThatIsWrongIsRefused(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		``:                                    "the text is empty",
		`[]`:                                  "must be an object, not an array",
		`{"create_timestamp":1}`:              `required key "opstamp" is missing`,
		`{"create_timestamp":1,"opstamp":-1}`: "opstamp: must be an integer from 0",
		`{"create_timestamp":1,"opstamp":1,"delete_query":{}}`:                               `delete_query: required key "query_ast" is missing`,
		`{"create_timestamp":1,"opstamp":1,"delete_query":{"query_ast":{}}}`:                 "delete_query.query_ast: must be a string",
		`{"create_timestamp":1,"opstamp":1,"delete_query":{"index_uid":"x","query_ast":""}}`: "has no colon",
	} {
		_, err := ParseDeleteTask([]byte(document))
		require.ErrorContains(t, err, want, document)
		require.Equal(t, KindJSONDeserializeError, AsError(err).Kind)
	}
}

func FuzzParseDeleteTask(f *testing.F) {
	f.Add([]byte(`{"create_timestamp":1787311111,"opstamp":4,"delete_query":{"index_uid":"web-access:01J9ZJX0A1B2C3D4E5F6G7H8J9","end_timestamp":1,"query_ast":"{\"type\":\"term\"}"}}`))
	f.Add([]byte(`{"create_timestamp":-1,"opstamp":18446744073709551615,"delete_query":{"index_id":null,"start_timestamp":null,"query":"é\u0000"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		task, err := ParseDeleteTask(text)
		if err != nil {
			require.Equal(t, KindJSONDeserializeError, AsError(err).Kind)
			return
		}
		written := task.AppendJSON(nil)
		again, err := ParseDeleteTask(written)
		require.NoError(t, err, string(written))
		require.Equal(t, task, again)
		query, err := ParseDeleteQuery(task.Query.AppendJSON(nil))
		require.NoError(t, err)
		require.Equal(t, task.Query, query)
	})
}

func TestStaleSplitsArePublishedAndMatureAndBelowTheOpstamp(t *testing.T) {
	t.Parallel()
	query := StaleSplitsQuery{IndexUID: taskIndexUID, DeleteOpstamp: 10, Limit: 3}.ListSplitsQuery(1000)
	stale := Split{State: Published, Metadata: SplitMetadata{SplitID: "s", DeleteOpstamp: 9, CreateTimestamp: 990, Maturity: Maturity{Immature: true, PeriodMillis: 10_000}}}
	require.True(t, query.Matches(taskIndexUID, &stale))
	for name, change := range map[string]func(*Split){
		"staged":      func(s *Split) { s.State = Staged },
		"marked":      func(s *Split) { s.State = MarkedForDeletion },
		"the opstamp": func(s *Split) { s.Metadata.DeleteOpstamp = 10 },
		"not mature":  func(s *Split) { s.Metadata.CreateTimestamp = 991 },
	} {
		other := stale
		change(&other)
		require.False(t, query.Matches(taskIndexUID, &other), name)
	}
	require.Equal(t, []IndexUID{taskIndexUID}, query.IndexUIDs)
	require.Equal(t, Some[uint64](3), query.Limit)
	require.Equal(t, SortByStaleness, query.SortBy)
}
