package metastore

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"holdfast/metastore/indexconfig"
)

// recordedMetadata calls visit for every index metadata document in the recorded answers.
func recordedMetadata(t *testing.T, visit func(name, document string)) {
	t.Helper()
	count := 0
	for _, recorded := range readScenarios(t, "*.json") {
		indexes := newRecordedIndexes()
		for i := range recorded.Steps {
			step := &recorded.Steps[i]
			for _, answer := range []*recordedAnswer{step.Answer, step.AnswerFile, step.AnswerPostgres} {
				if answer == nil {
					continue
				}
				for _, response := range answer.Responses {
					for _, field := range []string{"indexMetadataJson", "indexMetadataSerializedJson"} {
						raw, ok := response[field]
						if !ok {
							continue
						}
						for _, found := range uidPlaceholder.FindAllStringSubmatch(string(raw), -1) {
							if _, known := indexes.uids[found[2]]; !known {
								indexes.create(found[2])
							}
						}
						document := indexes.document(t, raw)
						document = strings.ReplaceAll(document, `"<now>"`, "1796000000")
						document = strings.ReplaceAll(document, "<ulid>", "01J9ZJX0M3N4P5Q6R7S8T9V0W1")
						visit(recorded.Name, document)
						count++
					}
				}
			}
		}
	}
	require.Greater(t, count, 100)
}

func TestRecordedIndexMetadataIsWrittenBackByteForByte(t *testing.T) {
	t.Parallel()
	recordedMetadata(t, func(name, document string) {
		metadata, err := ParseIndexMetadata([]byte(document))
		require.NoError(t, err, "%s: %s", name, document)
		assert.Equal(t, document, string(metadata.AppendJSON(nil)), name)
	})
}

const someIndexMetadata = `{"version":"0.9","index_uid":"logs:01J9ZJX0A1B2C3D4E5F6G7H8J9","index_config":` + someIndexConfig +
	`,"checkpoint":{"kafka":{"p0":"~","p1":""}},"create_timestamp":5,"sources":[` + someSource + `]}`

const someIndexConfig = `{"version":"0.9","index_id":"logs","index_uri":"ram:///logs","doc_mapping":{}}`

const someSource = `{"version":"0.9","source_id":"void","num_pipelines":1,"enabled":true,"source_type":"void","params":{},"input_format":"json"}`

func TestIndexMetadataOfOlderVersionsIsReadAndWrittenAsTheCurrentOne(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"0.7", "0.8", "0.9"} {
		text := strings.Replace(someIndexMetadata, "0.9", version, 1)
		text = strings.Replace(text, `"create_timestamp":5,`, `"new_key":{"a":1},`, 1)
		metadata, err := parseIndexMetadata([]byte(text), func() int64 { return 77 })
		require.NoError(t, err, version)
		assert.Equal(t, int64(77), metadata.CreateTimestamp, "a missing time is now")
		written := string(metadata.AppendJSON(nil))
		assert.True(t, strings.HasPrefix(written, `{"version":"0.9","index_uid":"logs:01J9ZJX0A1B2C3D4E5F6G7H8J9",`), written)
		assert.True(t, strings.HasSuffix(written, `],"new_key":{"a":1}}`), written)
		assert.Equal(t, IndexCheckpoint{"kafka": {"p0": "~", "p1": ""}}, metadata.Checkpoint)
	}
}

func TestUnknownKeysOfIndexMetadataStayBehindTheKnownOnesWhateverChanges(t *testing.T) {
	t.Parallel()
	text := strings.Replace(someIndexMetadata, `{"version"`, `{"big": 18446744073709551616 ,"version"`, 1)
	text = strings.Replace(text, `"create_timestamp"`, `"tiers":[ {"a\u0062" : 1.50e1,"n":null} , "x  y" ],"create_timestamp"`, 1)
	text = strings.Replace(text, `"sources"`, `"deep":`+strings.Repeat("[", 65)+strings.Repeat("]", 65)+`,"sources"`, 1)
	metadata, err := ParseIndexMetadata([]byte(text))
	require.NoError(t, err)
	const kept = `],"big":18446744073709551616,"tiers":[{"a\u0062":1.50e1,"n":null},"x  y"]}`
	source, err := indexconfig.ParseStoredSourceConfig([]byte(strings.Replace(someSource, `"source_id":"void"`, `"source_id":"other"`, 1)))
	require.NoError(t, err)
	must := func(updated *IndexMetadata, err error) *IndexMetadata {
		require.NoError(t, err)
		return updated
	}
	changed := func(updated *IndexMetadata, changed bool, err error) *IndexMetadata {
		require.NoError(t, err)
		require.True(t, changed)
		return updated
	}
	delta := &CheckpointDelta{SourceID: "kafka", Partitions: map[string]PartitionDelta{"p1": {To: "7"}}}
	for name, updated := range map[string]*IndexMetadata{
		"nothing":           metadata,
		"a source added":    must(metadata.AddSource(source)),
		"a source replaced": changed(metadata.ToggleSource("void", false)),
		"a source deleted":  must(metadata.DeleteSource("void")),
		"progress made":     changed(metadata.WithDelta(delta)),
		"no progress made":  must(func() (*IndexMetadata, error) { m, _, err := metadata.WithDelta(&CheckpointDelta{}); return m, err }()),
		"a checkpoint reset": changed(func() (*IndexMetadata, bool, error) {
			m, changed := metadata.ResetCheckpoint("kafka")
			return m, changed, nil
		}()),
	} {
		once := string(updated.AppendJSON(nil))
		assert.True(t, strings.HasSuffix(once, kept), "%s: %s", name, once)
		assert.NotContains(t, once, "deep", "more than 64 levels are not kept: others must be able to hold the document")
		again, err := ParseIndexMetadata([]byte(once))
		require.NoError(t, err, name)
		assert.Equal(t, once, string(again.AppendJSON(nil)), name)
	}
}

func TestIndexMetadataOfTheWrongShapeIsRefusedNamingTheField(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, old, new, want string }{
		{"another version", `"version":"0.9","index_uid"`, `"version":"0.6","index_uid"`, "version"},
		{"a uid without ULID", `logs:01J9ZJX0A1B2C3D4E5F6G7H8J9`, `logs`, "index_uid"},
		{"a uid of more than 128 bits", `logs:0`, `logs:8`, "index_uid"},
		{"a position that is a number", `"p0":"~"`, `"p0":1`, `checkpoint["kafka"]["p0"]`},
		{"a source checkpoint that is null", `{"p0":"~","p1":""}`, `null`, `checkpoint["kafka"]`},
		{"sources that are null", `"sources":[` + someSource + `]`, `"sources":null`, "sources"},
		{"a source given twice", someSource, someSource + "," + someSource, "sources[1]"},
		{"no sources", `,"sources":[` + someSource + `]`, ``, "sources"},
		{"text behind it", someSource + `]}`, someSource + `]} x`, "after the end"},
		{"a fractional time", `"create_timestamp":5`, `"create_timestamp":5.5`, "create_timestamp"},
		{"a key given twice", `"create_timestamp":5`, `"create_timestamp":5,"create_timestamp":5`, "create_timestamp"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, someIndexMetadata, test.old)
			_, err := ParseIndexMetadata([]byte(strings.Replace(someIndexMetadata, test.old, test.new, 1)))
			require.ErrorIs(t, err, &Error{Kind: KindJSONDeserializeError})
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func TestANewIndexHasAnEmptyCheckpointEntryForEachSource(t *testing.T) {
	t.Parallel()
	config, err := indexconfig.ParseStoredIndexConfig([]byte(someIndexConfig))
	require.NoError(t, err)
	source, err := indexconfig.ParseStoredSourceConfig([]byte(someSource))
	require.NoError(t, err)
	request := CreateIndexRequest{Config: config, Sources: []*indexconfig.SourceConfig{source}}
	require.NoError(t, ValidateCreateIndex(request))

	metadata := NewIndexMetadata(IndexUID{IndexID: "logs"}, request, 9)

	assert.Contains(t, string(metadata.AppendJSON(nil)), `"checkpoint":{"void":{}},"create_timestamp":9,"sources":[{`)
}

func TestCreatingAnIndexWithASourceTwiceIsRefused(t *testing.T) {
	t.Parallel()
	config, err := indexconfig.ParseStoredIndexConfig([]byte(someIndexConfig))
	require.NoError(t, err)
	source, err := indexconfig.ParseStoredSourceConfig([]byte(someSource))
	require.NoError(t, err)
	err = ValidateCreateIndex(CreateIndexRequest{Config: config, Sources: []*indexconfig.SourceConfig{source, source}})
	assert.ErrorIs(t, err, AlreadyExists(SourceEntity("logs", "void")))
}
