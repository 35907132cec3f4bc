package metastore

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fullParquetSplit is a canonical document with every key.
const fullParquetSplit = `{"kind":"Sketches","partition_id":18446744073709551615,"split_id":"m-3","index_uid":"metrics:01J9ZJX0A1B2C3D4E5F6G7H8J9",` +
	`"time_range":{"start_secs":1000,"end_secs":2000},"num_rows":100,"size_bytes":4096,"metric_names":["mem","cpu"],` +
	`"low_cardinality_tags":{"env":["prod","dev"],"service":["edge"]},"high_cardinality_tag_keys":["host"],` +
	`"created_at":{"secs_since_epoch":1600000000,"nanos_since_epoch":5000000},"maturity":{"type":"immature","maturation_period_millis":172800999},` +
	`"parquet_file":"m-3.parquet","window_start":-900,"window_duration_secs":900,"sort_fields":"metric_name|timestamp_secs/V2","num_merge_ops":3,` +
	`"row_keys_proto":[8,1,18,255],"zonemap_regexes":{"a":"x","service":"edge"},"rg_partition_prefix_len":2}`

// smallParquetSplit has the required keys only.
const smallParquetSplit = `{"split_id":"m-1","index_uid":"metrics:01J9ZJX0A1B2C3D4E5F6G7H8J9","time_range":{"start_secs":1,"end_secs":2},"num_rows":3,"size_bytes":4,` +
	`"metric_names":[],"low_cardinality_tags":{},"high_cardinality_tag_keys":[],"created_at":{"secs_since_epoch":5,"nanos_since_epoch":6}}`

func parseParquet(t testing.TB, document string) ParquetSplitMetadata {
	t.Helper()
	m, err := ParseParquetSplitMetadata([]byte(document))
	require.NoError(t, err, document)
	return m
}

func TestACanonicalParquetDocumentIsKeptAsItIs(t *testing.T) {
	t.Parallel()
	m := parseParquet(t, fullParquetSplit)
	assert.Equal(t, fullParquetSplit, m.Document())
	m.document = ""
	assert.Equal(t, fullParquetSplit, m.Document(), "the fields give the same document")
	m.document = fullParquetSplit
	assert.Equal(t, ParquetSplitMetadata{
		Kind: SketchSplits, PartitionID: math.MaxUint64, SplitID: "m-3", IndexUID: "metrics:01J9ZJX0A1B2C3D4E5F6G7H8J9",
		TimeStart: 1000, TimeEnd: 2000, NumRows: 100, SizeBytes: 4096, MetricNames: []string{"mem", "cpu"},
		LowCardinalityTags: map[string][]string{"env": {"prod", "dev"}, "service": {"edge"}}, HighCardinalityTagKeys: []string{"host"},
		CreatedSeconds: 1600000000, CreatedNanos: 5000000, Maturity: Maturity{Immature: true, PeriodMillis: 172800999},
		ParquetFile: "m-3.parquet", Window: Some(ParquetWindow{Start: -900, Duration: 900}), SortFields: "metric_name|timestamp_secs/V2",
		NumMergeOps: 3, RowKeys: []byte{8, 1, 18, 255}, ZonemapRegexes: map[string]string{"a": "x", "service": "edge"}, RowGroupPartitionPrefix: 2,
		document: fullParquetSplit,
	}, m)
}

func TestOtherParquetDocumentsAreWrittenInCanonicalForm(t *testing.T) {
	t.Parallel()
	canonical := parseParquet(t, smallParquetSplit)
	assert.Equal(t, `{"kind":"Metrics","partition_id":0,"split_id":"m-1","index_uid":"metrics:01J9ZJX0A1B2C3D4E5F6G7H8J9","time_range":{"start_secs":1,"end_secs":2},`+
		`"num_rows":3,"size_bytes":4,"metric_names":[],"low_cardinality_tags":{},"high_cardinality_tag_keys":[],"created_at":{"secs_since_epoch":5,"nanos_since_epoch":6},`+
		`"maturity":{"type":"mature"},"parquet_file":"","window_duration_secs":0,"sort_fields":"","num_merge_ops":0}`, canonical.Document())
	for _, c := range []struct{ name, old, replacement, want string }{
		{"white space goes", `"num_rows":100`, "\n\t\"num_rows\" : 100 ", `"num_rows":100,`},
		{"keys of tags are sorted", `"env":["prod","dev"],"service":["edge"]`, `"service":["edge"],"env":["prod","dev"]`, `{"env":["prod","dev"],"service":["edge"]}`},
		{"the last of a repeated tag key counts", `"env":["prod","dev"]`, `"env":["x"],"env":["y"]`, `{"env":["y"],"service"`},
		{"members of sets count once, the order is kept", `["mem","cpu"]`, `["mem","cpu","mem"]`, `"metric_names":["mem","cpu"]`},
		{"a window without duration goes", `"window_duration_secs":900`, `"window_duration_secs":0`, `"parquet_file":"m-3.parquet","window_duration_secs":0,`},
		{"a window without start goes", `"window_start":-900`, `"window_start":null`, `"parquet_file":"m-3.parquet","window_duration_secs":0,`},
		{"row keys may be null", `[8,1,18,255]`, `null`, `"num_merge_ops":3,"zonemap_regexes"`},
		{"no row keys are not the same as none", `[8,1,18,255]`, `[]`, `"row_keys_proto":[],"zonemap_regexes"`},
		{"empty maps of zone maps go", `{"a":"x","service":"edge"}`, `{}`, `"row_keys_proto":[8,1,18,255],"rg_partition_prefix_len":2`},
		{"a prefix of 0 goes", `,"rg_partition_prefix_len":2`, `,"rg_partition_prefix_len":0`, `"service":"edge"}}`},
		{"nanoseconds are carried", `"nanos_since_epoch":5000000`, `"nanos_since_epoch":2500000000`, `{"secs_since_epoch":1600000002,"nanos_since_epoch":500000000}`},
		{"unknown keys are kept behind the others", `"kind":"Sketches",`, `"new":{"a" : [1]},"kind":"Sketches",`, `"rg_partition_prefix_len":2,"new":{"a":[1]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			document := edit(t, fullParquetSplit, c.old, c.replacement)
			m := parseParquet(t, document)
			assert.Contains(t, m.Document(), c.want)
			assert.Equal(t, m, parseParquet(t, m.Document()))
		})
	}
}

func TestAWrongParquetDocumentIsRefusedAndTheErrorNamesTheField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, replacement, want string }{
		{`"kind":"Sketches"`, `"kind":"sketches"`, "kind"},
		{`"split_id":"m-3",`, ``, "split_id"},
		{`"split_id":"m-3"`, `"split_id":null`, "split_id"},
		{`"num_rows":100`, `"num_rows":-1`, "num_rows"},
		{`"num_rows":100`, `"num_rows":1.0`, "num_rows"},
		{`"num_rows":100`, `"num_rows":1,"num_rows":1`, "num_rows"},
		{`"end_secs":2000`, `"end":2000`, "end_secs"},
		{`"metric_names":["mem","cpu"]`, `"metric_names":null`, "metric_names"},
		{`"env":["prod","dev"]`, `"env":"prod"`, `low_cardinality_tags["env"]`},
		{`"nanos_since_epoch":5000000`, `"nanos_since_epoch":5,"zone":1`, "created_at"},
		{`"secs_since_epoch":1600000000`, `"secs_since_epoch":9223372036854775808`, "created_at"},
		{`"secs_since_epoch":1600000000,"nanos_since_epoch":5000000`, `"secs_since_epoch":9223372036854775807,"nanos_since_epoch":1000000000`, "created_at"},
		{`"maturation_period_millis":172800999`, `"x":1`, "maturity"},
		{`"window_duration_secs":900`, `"window_duration_secs":4294967296`, "window_duration_secs"},
		{`255`, `256`, "row_keys_proto"},
		{`"a":"x"`, `"a":1`, "zonemap_regexes"},
		{fullParquetSplit, ``, "the text is empty"},
		{fullParquetSplit, `[]`, "object"},
	} {
		_, err := ParseParquetSplitMetadata([]byte(edit(t, fullParquetSplit, c.old, c.replacement)))
		require.ErrorIs(t, err, &Error{Kind: KindJSONDeserializeError}, c.replacement)
		assert.Contains(t, err.Error(), c.want, c.replacement)
		assert.Equal(t, structParquetSplitMetadata, AsError(err).StructName)
	}
}

// parquetSteps visits the recorded calls about Parquet splits whose names begin with prefix.
func parquetSteps(t *testing.T, prefix string, visit func(indexes *recordedIndexes, step *recordedStep, about string)) {
	t.Helper()
	for _, pattern := range []string{"split-metrics*.json", "split-sketch*.json"} {
		for _, recorded := range readScenarios(t, pattern) {
			indexes := newRecordedIndexes()
			for i := range recorded.Steps {
				step := &recorded.Steps[i]
				if step.RPC == "CreateIndex" {
					var config struct {
						IndexID string `json:"index_id"`
					}
					require.NoError(t, json.Unmarshal([]byte(indexes.document(t, step.Request["indexConfigJson"])), &config))
					indexes.create(config.IndexID)
				}
				if strings.HasPrefix(step.RPC, prefix) {
					visit(indexes, step, recorded.Name+": "+step.Note)
				}
			}
		}
	}
}

func TestDocumentsAndQueriesAreRefusedWhereThePeerRefusesThem(t *testing.T) {
	t.Parallel()
	played := 0
	for _, rpc := range []string{"StageMetricsSplits", "StageSketchSplits"} {
		parquetSteps(t, rpc, func(indexes *recordedIndexes, step *recordedStep, about string) {
			played++
			var elements []json.RawMessage
			require.NoError(t, json.Unmarshal(step.Request["splitsMetadataJson"], &elements))
			refused := false
			for _, element := range elements {
				_, err := ParseParquetSplitMetadata([]byte(indexes.document(t, element)))
				refused = refused || err != nil
			}
			assert.Equal(t, step.on("file").refusedAsJSON(), refused, about)
		})
	}
	for _, rpc := range []string{"ListMetricsSplits", "ListSketchSplits"} {
		parquetSteps(t, rpc, func(indexes *recordedIndexes, step *recordedStep, about string) {
			played++
			document := indexes.document(t, step.Request["queryJson"])
			query, err := ParseListParquetSplitsQuery([]byte(document))
			assert.Equal(t, step.on("file").refusedAsJSON(), err != nil, about)
			if err == nil && strings.Contains(document, `"limit"`) {
				assert.Equal(t, document, string(query.AppendJSON(nil)), "written as the peer's client writes it")
			}
		})
	}
	assert.Greater(t, played, 100)
}

func TestListedSplitsAreWrittenAsThePeerWritesThem(t *testing.T) {
	t.Parallel()
	listed := 0
	parquetSteps(t, "List", func(indexes *recordedIndexes, step *recordedStep, about string) {
		for _, response := range step.on("file").Responses {
			var elements []json.RawMessage
			if raw := response["splitsSerializedJson"]; raw != nil {
				require.NoError(t, json.Unmarshal(raw, &elements))
			}
			for _, element := range elements {
				listed++
				document := strings.Replace(indexes.document(t, element), `"<now>"`, "17", 1)
				row, err := ParseParquetSplitRow([]byte(document))
				require.NoError(t, err, about)
				assert.Equal(t, document, string(row.AppendJSON(nil)), about)
			}
		}
	})
	assert.Greater(t, listed, 50)
}

func TestAStoredParquetSplitIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	m := parseParquet(t, fullParquetSplit)
	split := &ParquetSplit{Metadata: &m, State: Published, UpdateTimestamp: 5, CreateTimestamp: 4, MaturityTimestamp: 1600172800}
	text := split.AppendJSON(nil)
	assert.Equal(t, `{"metadata":`+fullParquetSplit+`,"state":"Published","update_timestamp":5,"create_timestamp":4,"node_id":"","delete_opstamp":0,"maturity_timestamp":1600172800}`, string(text))
	again, err := ParseParquetSplit(text)
	require.NoError(t, err)
	assert.Equal(t, split, again)

	defaults, err := ParseParquetSplit([]byte(`{"metadata":` + smallParquetSplit + `,"state":"Staged","update_timestamp":5}`))
	require.NoError(t, err)
	assert.Zero(t, defaults.CreateTimestamp+defaults.MaturityTimestamp)
}

func TestStagingChecksParquetSplits(t *testing.T) {
	t.Parallel()
	uid, err := ParseIndexUID("metrics:01J9ZJX0A1B2C3D4E5F6G7H8J9")
	require.NoError(t, err)
	for _, c := range []struct{ old, replacement, want string }{
		{`"index_uid":"metrics:`, `"index_uid":"logs:`, "index_uid is"},
		{`"index_uid":"metrics:01J9`, `"index_uid":"`, "index_uid is"},
		{`"m-3"`, `"` + strings.Repeat("é", 51) + `"`, "split_id has 51 characters"},
		{`"start_secs":1000`, `"start_secs":9223372036854775808`, "time_range.start_secs is 9223372036854775808"},
		{`"end_secs":2000`, `"end_secs":9223372036854775808`, "time_range.end_secs is"},
		{`"num_rows":100`, `"num_rows":9223372036854775808`, "num_rows is"},
		{`"size_bytes":4096`, `"size_bytes":9223372036854775808`, "size_bytes is"},
		{`"window_duration_secs":900`, `"window_duration_secs":2147483648`, "window_duration_secs is"},
		{`"window_start":-900`, `"window_start":9223372036854775000`, "window_start is"},
		{`"num_merge_ops":3`, `"num_merge_ops":2147483648`, "num_merge_ops is"},
		{`172800999`, `18446744073709551615`, "maturity of"},
		{`"mem"`, `"\u0000"`, "document holds"},
	} {
		m := parseParquet(t, edit(t, fullParquetSplit, c.old, c.replacement))
		_, err := PrepareParquetStage(uid, []ParquetSplitMetadata{parseParquet(t, smallParquetSplit), m})
		require.ErrorIs(t, err, ErrInvalidArgument, c.replacement)
		assert.Contains(t, err.Error(), c.want)
	}
	_, err = PrepareParquetStage(uid, []ParquetSplitMetadata{{SplitID: "\xff", IndexUID: uid.String()}})
	require.ErrorIs(t, err, ErrInvalidArgument)

	last := parseParquet(t, edit(t, fullParquetSplit, `"num_rows":100`, `"num_rows":200`))
	prepared, err := PrepareParquetStage(uid, []ParquetSplitMetadata{parseParquet(t, fullParquetSplit), parseParquet(t, smallParquetSplit), last})
	require.NoError(t, err)
	require.Len(t, prepared, 2)
	assert.Equal(t, "m-1", prepared[0].SplitID)
	assert.Equal(t, uint64(200), prepared[1].NumRows, "the last of a repeated id counts")
}

func TestTheMaturityTimeOfAParquetSplitIsInWholeSeconds(t *testing.T) {
	t.Parallel()
	m := parseParquet(t, fullParquetSplit)
	seconds, ok := m.MaturityTimestamp()
	assert.True(t, ok)
	assert.Equal(t, int64(1600000000+172800), seconds)
	small := parseParquet(t, smallParquetSplit)
	seconds, ok = small.MaturityTimestamp()
	assert.True(t, ok)
	assert.Zero(t, seconds)
}

func FuzzParseParquetSplitMetadata(f *testing.F) {
	f.Add([]byte(fullParquetSplit))
	f.Add([]byte(smallParquetSplit))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ParseParquetSplitMetadata(text)
		if err != nil {
			return
		}
		again, err := ParseParquetSplitMetadata([]byte(m.Document()))
		require.NoError(t, err, m.Document())
		require.Equal(t, m, again)
		uid, err := ParseIndexUID(m.IndexUID)
		if err != nil {
			return
		}
		if _, err := PrepareParquetStage(uid, []ParquetSplitMetadata{m}); err != nil {
			require.ErrorIs(t, err, ErrInvalidArgument)
		}
	})
}

func FuzzParseParquetSplit(f *testing.F) {
	stored := `{"metadata":` + fullParquetSplit + `,"state":"Published","update_timestamp":5,"create_timestamp":4,"node_id":"n","delete_opstamp":1,"maturity_timestamp":6}`
	f.Add([]byte(stored))
	f.Add([]byte(`{"state":"Staged","update_timestamp":5,"metadata":` + smallParquetSplit + `}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if row, err := ParseParquetSplitRow(text); err == nil {
			again, err := ParseParquetSplitRow(row.AppendJSON(nil))
			require.NoError(t, err)
			require.Equal(t, row, again)
		}
		split, err := ParseParquetSplit(text)
		if err != nil {
			return
		}
		again, err := ParseParquetSplit(split.AppendJSON(nil))
		require.NoError(t, err)
		require.Equal(t, split, again)
	})
}

func FuzzParseListParquetSplitsQuery(f *testing.F) {
	addRecordedSeeds(f, "ListMetricsSplits", "queryJson")
	f.Fuzz(func(t *testing.T, text []byte) {
		query, err := ParseListParquetSplitsQuery(text)
		if err != nil {
			return
		}
		written := query.AppendJSON(nil)
		again, err := ParseListParquetSplitsQuery(written)
		require.NoError(t, err, "%s", written)
		require.Equal(t, query, again)
		m := parseParquet(t, fullParquetSplit)
		query.Matches(&ParquetSplit{Metadata: &m, State: Staged})
	})
}
