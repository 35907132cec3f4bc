package metastore

import (
	"encoding/json"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRecordedErrorsAreReadAndWrittenBackByteForByte(t *testing.T) {
	t.Parallel()
	kinds := map[ErrorKind]int{}
	for _, recorded := range readScenarios(t, "*.json") {
		for i := range recorded.Steps {
			step := &recorded.Steps[i]
			for _, answer := range []*recordedAnswer{step.Answer, step.AnswerFile, step.AnswerPostgres} {
				if answer == nil || len(answer.Error) == 0 || string(answer.Error) == "null" {
					continue
				}
				text := jsontext.Value(answer.Error).Clone()
				require.NoError(t, text.Format())
				parsed, err := ParseErrorJSON(text)
				require.NoError(t, err, "%s %d: %s", recorded.Name, i, text)
				assert.Equal(t, string(text), string(parsed.AppendJSON(nil)))
				kinds[parsed.Kind]++
			}
		}
	}
	for _, kind := range []ErrorKind{KindAlreadyExists, KindDb, KindFailedPrecondition, KindInvalidArgument, KindInvalidPublishToken, KindJSONDeserializeError, KindNotFound} {
		assert.Positive(t, kinds[kind], "no recording has %s", kind)
	}
}

func TestEveryKindOfErrorHasTheShapeOfThePeer(t *testing.T) {
	t.Parallel()
	entities := []struct {
		entity Entity
		json   string
	}{
		{Entity{Kind: EntityCheckpointDelta, IndexID: "i", SourceID: "s"}, `{"checkpoint_delta":{"index_id":"i","source_id":"s"}}`},
		{IndexEntity("i"), `{"index":{"index_id":"i"}}`},
		{Entity{Kind: EntityIndexes, IndexIDs: []string{"i", "j"}}, `{"indexes":{"index_ids":["i","j"]}}`},
		{SourceEntity("i", "s"), `{"source":{"index_id":"i","source_id":"s"}}`},
		{Entity{Kind: EntityShard, QueueID: "q"}, `{"shard":{"queue_id":"q"}}`},
		{Entity{Kind: EntitySplit, SplitIDs: []string{"s"}}, `{"split":{"split_id":"s"}}`},
		{SplitsEntity([]string{"s", "t"}), `{"splits":{"split_ids":["s","t"]}}`},
		{Entity{Kind: EntityIndexTemplate, TemplateID: "t"}, `{"index_template":{"template_id":"t"}}`},
	}
	type testCase struct {
		err  Error
		json string
	}
	cases := []testCase{
		{Error{Kind: KindConnection, Message: "m"}, `{"Connection":{"message":"m"}}`},
		{Error{Kind: KindDb, Message: "m"}, `{"Db":{"message":"m"}}`},
		{Error{Kind: KindForbidden, Message: "m"}, `{"Forbidden":{"message":"m"}}`},
		{Error{Kind: KindInternal, Message: "m", Cause: "c"}, `{"Internal":{"message":"m","cause":"c"}}`},
		{Error{Kind: KindInternal, Message: "m"}, `{"Internal":{"message":"m","cause":""}}`},
		{Error{Kind: KindInvalidArgument, Message: `<a> & "b"`}, `{"InvalidArgument":{"message":"<a> & \"b\""}}`},
		{Error{Kind: KindInvalidPublishToken, QueueID: "q"}, `{"InvalidPublishToken":{"queue_id":"q"}}`},
		{Error{Kind: KindIo, Message: "m"}, `{"Io":{"message":"m"}}`},
		{Error{Kind: KindJSONDeserializeError, StructName: "t", Message: "m"}, `{"JsonDeserializeError":{"struct_name":"t","message":"m"}}`},
		{Error{Kind: KindJSONSerializeError, StructName: "t", Message: "m"}, `{"JsonSerializeError":{"struct_name":"t","message":"m"}}`},
		{Error{Kind: KindTimeout, Message: "m"}, `{"Timeout":"m"}`},
		{Error{Kind: KindTooManyRequests}, `"TooManyRequests"`},
		{Error{Kind: KindUnavailable, Message: "m"}, `{"Unavailable":"m"}`},
	}
	for _, e := range entities {
		cases = append(cases,
			testCase{Error{Kind: KindAlreadyExists, Entity: e.entity}, `{"AlreadyExists":` + e.json + `}`},
			testCase{Error{Kind: KindNotFound, Entity: e.entity}, `{"NotFound":` + e.json + `}`},
			testCase{Error{Kind: KindFailedPrecondition, Entity: e.entity, Message: "m"}, `{"FailedPrecondition":{"entity":` + e.json + `,"message":"m"}}`})
	}
	for _, test := range cases {
		t.Run(test.json, func(t *testing.T) {
			t.Parallel()
			text, err := test.err.MarshalJSON()
			require.NoError(t, err)
			assert.Equal(t, test.json, string(text))
			parsed, err := ParseErrorJSON(text)
			require.NoError(t, err)
			assert.Equal(t, &test.err, parsed)
		})
	}
}

func TestAnErrorThatThePeerHasNoShapeForIsWrittenAsInternal(t *testing.T) {
	t.Parallel()
	for _, err := range []*Error{
		{},
		{Kind: "Strange", Message: "m"},
		{Kind: KindNotFound},
		{Kind: KindFailedPrecondition, Entity: Entity{Kind: "strange"}, Message: "m"},
		{Kind: KindNotFound, Entity: Entity{Kind: EntitySplit}},
	} {
		parsed, parseErr := ParseErrorJSON(err.AppendJSON(nil))
		require.NoError(t, parseErr)
		assert.Equal(t, KindInternal, parsed.Kind)
		assert.Equal(t, err.Error(), parsed.Message)
	}
}

func TestTheErrorDecoderTakesAnyKeyOrderAndUnknownKeys(t *testing.T) {
	t.Parallel()
	parsed, err := ParseErrorJSON([]byte(` {"FailedPrecondition" : {"new":[1], "message":"m", "entity":{"index":{"x":{}, "index_id":"i"}}}} `))
	require.NoError(t, err)
	assert.Equal(t, FailedPrecondition(IndexEntity("i"), "m"), parsed)
}

func TestTheErrorDecoderRefusesEverythingElse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, `null`, `{}`, `[]`, `"Internal"`, `"Timeout"`, `{"TooManyRequests":1}`, `{"Unheard":{"message":"m"}}`, `{"internal":{"message":"m","cause":"c"}}`,
		`{"Internal":{"message":"m"}}`, `{"Internal":{"message":"m","cause":null}}`, `{"Internal":{"message":"m","message":"m","cause":"c"}}`,
		`{"Timeout":{"message":"m"}}`, `{"Timeout":"m","Unavailable":"m"}`, `{"Timeout":"m"} x`, `{"NotFound":"index"}`, `{"NotFound":{"index":{}}}`,
		`{"NotFound":{"galaxy":{"index_id":"i"}}}`, `{"NotFound":{"index":{"index_id":"i"},"source":{"index_id":"i","source_id":"s"}}}`,
		`{"NotFound":{"splits":{"split_ids":null}}}`, `{"NotFound":{"splits":{"split_ids":[1]}}}`,
	} {
		_, err := ParseErrorJSON([]byte(text))
		assert.Error(t, err, text)
	}
}

func TestAnErrorSurvivesTheWay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		sent := FailedPrecondition(SplitsEntity(rapid.SliceOf(text).Draw(t, "ids")), "%s", text.Draw(t, "message"))
		encoded := sent.AppendJSON(nil)
		if !json.Valid(encoded) {
			t.Fatalf("not valid JSON: %s", encoded)
		}
		received, err := ParseErrorJSON(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if received.Message != sent.Message || string(received.AppendJSON(nil)) != string(encoded) {
			t.Fatalf("%s came back as %s", encoded, received.AppendJSON(nil))
		}
	})
}
