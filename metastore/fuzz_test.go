package metastore

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every target checks that reading never panics, and that what is accepted is written back to a
// document that is read as the same value and written as the same text.

func addRecordedSeeds(f *testing.F, rpc, field string) {
	f.Helper()
	for _, recorded := range readScenarios(f, "*.json") {
		indexes := newRecordedIndexes()
		for i := range recorded.Steps {
			step := &recorded.Steps[i]
			if step.RPC == "CreateIndex" {
				var config struct {
					IndexID string `json:"index_id"`
				}
				if json.Unmarshal([]byte(indexes.document(f, step.Request["indexConfigJson"])), &config) == nil {
					indexes.create(config.IndexID)
				}
			}
			if raw, ok := step.Request[field]; ok && step.RPC == rpc {
				f.Add([]byte(indexes.document(f, raw)))
			}
		}
	}
}

func FuzzParseSplitMetadataList(f *testing.F) {
	addRecordedSeeds(f, "StageSplits", "splitMetadataListSerializedJson")
	f.Add(realSplits(f, 3))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := ParseSplitMetadataList(text)
		if err != nil {
			return
		}
		documents := make([]string, len(list))
		for i := range list {
			documents[i] = list[i].Document()
		}
		written := "[" + strings.Join(documents, ",") + "]"
		again, err := ParseSplitMetadataList([]byte(written))
		require.NoError(t, err, written)
		require.Equal(t, list, again)
		slow, err := ParseSplitMetadataList([]byte(strings.ReplaceAll(written, `{"version"`, `{ "version"`)))
		require.NoError(t, err, written)
		require.Len(t, slow, len(list))
		_, err = PrepareStage(StageSplitsRequest{Splits: list})
		if err != nil {
			require.ErrorIs(t, err, ErrInvalidArgument)
		}
	})
}

func FuzzParseSplitRow(f *testing.F) {
	f.Add([]byte(`{"split_state":"Staged","update_timestamp":1,"publish_timestamp":null,` + someSplit[1:]))
	f.Add([]byte(strings.TrimSuffix(someSplit, "}") + `,"x":1,"update_timestamp":3,"split_state":"MarkedForDeletion","publish_timestamp":5}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		row, err := ParseSplitRow(text)
		if err != nil {
			return
		}
		written := row.AppendJSON(nil)
		require.True(t, json.Valid(written), "%s", written)
		again, err := ParseSplitRow(written)
		require.NoError(t, err, "%s", written)
		require.Equal(t, row, again)
		split, err := row.Split()
		require.NoError(t, err)
		require.Equal(t, row, split.Row())
	})
}

func FuzzPatchDocument(f *testing.F) {
	f.Add([]byte(someSplit), "logs:01J9ZJX0A1B2C3D4E5F6G7H8J9", int64(5), true, uint64(7))
	f.Add([]byte(strings.Replace(someSplit, "tenant!", `\"delete_opstamp\":1`, 1)), "a\"b:01J9ZJX0A1B2C3D4E5F6G7H8J9", int64(-5), true, uint64(7))
	f.Add([]byte(`{"version":"0.7","split_id":"s","index_id":"logs:01J9ZJX0A1B2C3D4E5F6G7H8J9","num_docs":1,"size_in_bytes":2,"footer_offsets":[3,4]}`), "", int64(0), false, uint64(0))
	f.Fuzz(func(t *testing.T, document []byte, uid string, created int64, set bool, opstamp uint64) {
		patched, err := PatchDocument(nil, document, uid, Optional[int64]{Value: created, Set: set}, opstamp)
		fromString, stringErr := PatchDocument(nil, string(document), uid, Optional[int64]{Value: created, Set: set}, opstamp)
		require.Equal(t, err == nil, stringErr == nil)
		if err != nil {
			require.ErrorIs(t, err, &Error{Kind: KindJSONDeserializeError})
			return
		}
		if set {
			require.Equal(t, string(patched), string(fromString))
		}
		parsedUID, err := ParseIndexUID(uid)
		if err != nil {
			return
		}
		m, err := ParseSplitMetadata(patched)
		require.NoError(t, err, "%s", patched)
		require.Equal(t, opstamp, m.DeleteOpstamp)
		require.Equal(t, parsedUID.Incarnation, m.IndexUID.Incarnation)
		if set {
			require.Equal(t, created, m.CreateTimestamp)
		}
		original, err := ParseSplitMetadata(document)
		if err != nil {
			return // its index uid or the order of its tags
		}
		require.Equal(t, original.SplitID, m.SplitID)
		require.Equal(t, original.Tags, m.Tags)
		require.Equal(t, original.NumDocs, m.NumDocs)
	})
}

func FuzzParseListSplitsQuery(f *testing.F) {
	addRecordedSeeds(f, "ListSplits", "queryJson")
	f.Add([]byte(fullQuery))
	f.Fuzz(func(t *testing.T, text []byte) {
		query, err := ParseListSplitsQuery(text)
		if err != nil {
			return
		}
		written := query.AppendJSON(nil)
		again, err := ParseListSplitsQuery(written)
		require.NoError(t, err, "%s", written)
		require.Equal(t, query, again)
		query.Matches(IndexUID{}, &Split{State: Staged})
	})
}

func FuzzParseErrorJSON(f *testing.F) {
	for _, seed := range []string{
		`"TooManyRequests"`, `{"Timeout":"m"}`, `{"Internal":{"message":"m","cause":"c"}}`, `{"NotFound":{"source":{"index_id":"i","source_id":"s"}}}`,
		`{"FailedPrecondition":{"entity":{"splits":{"split_ids":["s","t"]}},"message":"m"}}`, `{"AlreadyExists":{"split":{"split_id":"s"}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		parsed, err := ParseErrorJSON(text)
		if err != nil {
			return
		}
		written := parsed.AppendJSON(nil)
		again, err := ParseErrorJSON(written)
		require.NoError(t, err, "%s", written)
		require.Equal(t, parsed, again)
		require.NotEmpty(t, parsed.Error())
	})
}

func FuzzParseIndexMetadata(f *testing.F) {
	f.Add([]byte(someIndexMetadata))
	for _, recorded := range readScenarios(f, "index-*.json") {
		indexes := newRecordedIndexes()
		for i := range recorded.Steps {
			step := &recorded.Steps[i]
			if step.RPC == "CreateIndex" && step.Answer != nil && len(step.Answer.Responses) > 0 {
				f.Add([]byte(strings.ReplaceAll(indexes.document(f, step.Answer.Responses[0]["indexMetadataJson"]), `"<now>"`, "5")))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		metadata, err := ParseIndexMetadata(text)
		if err != nil {
			return
		}
		written := metadata.AppendJSON(nil)
		again, err := ParseIndexMetadata(written)
		require.NoError(t, err, "%s", written)
		require.Equal(t, string(written), string(again.AppendJSON(nil)))
	})
}
