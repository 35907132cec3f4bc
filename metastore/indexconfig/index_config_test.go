package indexconfig_test

import (
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore/indexconfig"
)

const someUID = "01J0000000000000000000D001"

func drawUID() ulid.ULID { return ulid.MustParse(someUID) }

// config returns an index config with the given keys after the required ones;
// doc_mapping is {} unless keys begin with it.
func config(keys string) []byte {
	text := `{"version":"0.9","index_id":"web","index_uri":"s3://b/web"`
	if !strings.HasPrefix(keys, `"doc_mapping"`) {
		text += `,"doc_mapping":{}`
	}
	if keys != "" {
		text += "," + keys
	}
	return []byte(text + "}")
}

func TestTheSmallestConfigIsWrittenWithAllDefaults(t *testing.T) {
	t.Parallel()
	c, err := indexconfig.ParseIndexConfig(config(""), drawUID)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"version":"0.9","index_id":"web","index_uri":"s3://b/web","doc_mapping":{"doc_mapping_uid":"` + someUID + `","mode":"dynamic",` +
		`"dynamic_mapping":{"indexed":true,"tokenizer":"raw","record":"basic","stored":true,"expand_dots":true,"fast":{"normalizer":"raw"}},` +
		`"field_mappings":[],"timestamp_field":null,"tag_fields":[],"max_num_partitions":200,"index_field_presence":false,"store_document_size":false,` +
		`"store_source":false,"tokenizers":[]},"indexing_settings":{"commit_timeout_secs":60,"docstore_compression_level":8,"docstore_blocksize":1000000,` +
		`"split_num_docs_target":10000000,"merge_policy":{"type":"stable_log","min_level_num_docs":100000,"merge_factor":10,"max_merge_factor":12,` +
		`"maturation_period":"2days"},"resources":{"heap_size":2000000000}},"ingest_settings":{"min_shards":1},` +
		`"search_settings":{"default_search_fields":[]},"retention":null}`
	if got := string(c.AppendJSON([]byte(">"))); got != ">"+want {
		t.Errorf("wrote %s\n want >%s", got, want)
	}
}

func TestOldVersionsGetTheNilUIDWhereverTheVersionStands(t *testing.T) {
	t.Parallel()
	mapping := `"doc_mapping":{"doc_mapping_uid":"` + someUID + `"}`
	for _, text := range []string{
		`{"version":"0.8","index_id":"web","index_uri":"s3://b",` + mapping + `}`,
		`{"index_id":"web","index_uri":"s3://b",` + mapping + `,"version":"0.7"}`,
	} {
		c, err := indexconfig.ParseIndexConfig([]byte(text), drawUID)
		if err != nil || c.DocMapping.UID != (ulid.ULID{}) {
			t.Errorf("%s: %+v, %v", text, c, err)
		}
	}
}

func TestAUIDIsDrawnOnlyWhenTheMappingHasNone(t *testing.T) {
	t.Parallel()
	for uid, want := range map[string]string{
		`{}`: someUID,
		`{"doc_mapping_uid":"00000000000000000000000000"}`: "00000000000000000000000000",
		`{"doc_mapping_uid":"01j0000000000000000000d008"}`: "01J0000000000000000000D008",
		`{"doc_mapping_uid":"7ZZZZZZZZZZZZZZZZZZZZZZZZZ"}`: "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
	} {
		m, err := indexconfig.ParseDocMapping([]byte(uid), drawUID)
		if err != nil || m.UID.String() != want {
			t.Errorf("%s: %v, %v", uid, m, err)
		}
	}
	m, err := indexconfig.ParseDocMapping([]byte(`{}`), nil)
	if err != nil || m.UID != (ulid.ULID{}) {
		t.Errorf("without a source of UIDs: %v, %v", m, err)
	}
	for _, uid := range []string{"81J0000000000000000000D009", "01J000000000000000000000I1", "01J000000000000000000000L1", "01J000000000000000000000O1",
		"01J000000000000000000000U1", "01J0000000000000000000D0011", "", "é"} {
		if _, err := indexconfig.ParseDocMapping([]byte(`{"doc_mapping_uid":"`+uid+`"}`), drawUID); err == nil {
			t.Errorf("%q: accepted", uid)
		}
	}
}

func TestIntegersOf64BitsStayExact(t *testing.T) {
	t.Parallel()
	settings := `{"commit_timeout_secs":18446744073709551615,"docstore_compression_level":-2147483648,"docstore_blocksize":9007199254740993,` +
		`"split_num_docs_target":0,"merge_policy":{"type":"limit_merge","merge_factor":9007199254740993,"max_merge_factor":18446744073709551615,` +
		`"max_merge_ops":1,"maturation_period":"1ns","max_finalize_merge_operations":18446744073709551615,"max_finalize_split_num_docs":0},` +
		`"resources":{"heap_size":18446744073709551615}}`
	c, err := indexconfig.ParseIndexConfig(config(`"indexing_settings":`+settings), drawUID)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(c.AppendJSON(nil)); !strings.Contains(got, settings) {
		t.Errorf("wrote %s\n want %s in it", got, settings)
	}
}

func TestParquetSettingsAreCarriedAsTheyCame(t *testing.T) {
	t.Parallel()
	c, err := indexconfig.ParseIndexConfig(config(`"indexing_settings":{"parquet_merge_policy":{ "max_finalize_merge_operations" : 0, "x": 1.50 },"parquet_indexing":{}}`), drawUID)
	if err != nil {
		t.Fatal(err)
	}
	// A zero here is read as 3 when it is left out (H14), so nothing is.
	want := `"maturation_period":"2days"},"parquet_merge_policy":{"max_finalize_merge_operations":0,"x":1.50},"parquet_indexing":{},"resources"`
	if got := string(c.AppendJSON(nil)); !strings.Contains(got, want) {
		t.Errorf("wrote %s\n want %s in it", got, want)
	}
	c, err = indexconfig.ParseIndexConfig(config(`"indexing_settings":{"parquet_merge_policy":null,"parquet_indexing":null}`), drawUID)
	if err != nil || strings.Contains(string(c.AppendJSON(nil)), "parquet") {
		t.Errorf("null is written: %s, %v", c.AppendJSON(nil), err)
	}
	for _, value := range []string{`[]`, `1`, `"x"`, `true`} {
		if _, err := indexconfig.ParseIndexConfig(config(`"indexing_settings":{"parquet_indexing":`+value+`}`), drawUID); err == nil {
			t.Errorf("%s: accepted", value)
		}
	}
}

func TestARefusalNamesTheFieldAndTheProblem(t *testing.T) {
	t.Parallel()
	fields := func(list string) []byte { return config(`"doc_mapping":{"field_mappings":[` + list + `]}`) }
	long := strings.Repeat("x", 10_000)
	for _, c := range []struct {
		text []byte
		want string
	}{
		{nil, `index_config: the text is empty; a JSON document is required`},
		{[]byte(`{"version":"0.6"}`), `index_config.version: unknown value "0.6"; known values are 0.9, 0.8, 0.7`},
		{[]byte(`{"index_id":"web"}`), `index_config: required key "version" is missing`},
		{config(`"colour":1`), `index_config: unknown key "colour"; known keys are version, index_id, `},
		{config(`"doc_mapping":{"mode":"loose"}`), `index_config.doc_mapping.mode: unknown value "loose"; known values are lenient, strict, dynamic`},
		{fields(`{"name":"a","type":"u64"},{"name":"b","type":"text"},{"name":"c","type":"strnig"}`), `index_config.doc_mapping.field_mappings[2].type: unknown type "strnig"; known types are text, `},
		{fields(`{"name":"a","type":"` + long + `"}`), `index_config.doc_mapping.field_mappings[0].type: unknown type "xxxx`},
		{fields(`{"type":"u64"}`), `index_config.doc_mapping.field_mappings[0]: required key "name" is missing`},
		{fields(`{"name":"o","type":"object","field_mappings":[{"name":"x","type":"u64","tokenizer":"raw"}]}`), `index_config.doc_mapping.field_mappings[0].field_mappings[0]: unknown key "tokenizer"`},
		{fields(`{"name":"o","type":"object","field_mappings":[{"name":"x","type":"u64"},{"name":"x","type":"u64"}]}`), `index_config.doc_mapping.field_mappings[0].field_mappings[1]: the field "x" is declared twice`},
		{fields(`{"name":"a","type":"u64"},{"name":"a","type":"u64"}`), `index_config.doc_mapping.field_mappings[1]: the field "a" is declared twice`},
		{config(`"doc_mapping":{"timestamp_field":"ts"}`), `index_config.doc_mapping.timestamp_field: the field "ts" is not declared`},
		{config(`"indexing_settings":{"resources":{"heap_size":"lots"}}`), `index_config.indexing_settings.resources.heap_size: "lots" is not a byte size`},
		{config(`"indexing_settings":{"merge_policy":{"type":"stable_log","merge_factor":13}}`), `index_config.indexing_settings.merge_policy: max_merge_factor 12 must not be less than merge_factor 13`},
		{config(`"ingest_settings":{"min_shards":0}`), `index_config.ingest_settings.min_shards: must be at least 1`},
		{config(`"doc_mapping":{"mode":"strict"},"search_settings":{"default_search_fields":["nope"]}`), `index_config.search_settings.default_search_fields[0]: the field "nope" is not declared`},
		{config(`"retention":{"period":"1 day"}`), `index_config.retention: a retention policy requires doc_mapping.timestamp_field`},
		{config(`"retention":{"period":"soon"}`), `index_config.retention.period: "soon" is not a duration`},
		{config(`"doc_mapping":{"tokenizers":[{"name":"t","type":"regex","pattern":"("}]}`), `index_config.doc_mapping.tokenizers[0].pattern: "(" is not a regular expression: missing closing )`},
		{[]byte(`{"version":"0.9","index_id":"no","index_uri":"s3://b","doc_mapping":{}}`), `index_config.index_id: index id "no" must have 3 to 255 characters, not 2`},
		{[]byte(`{"version":"0.9","index_id":"web","doc_mapping":{}}`), `index_config.index_uri: is required`},
		{[]byte(`{"version":"0.9","index_id":"web","index_uri":"ftp://h","doc_mapping":{}}`), `index_config.index_uri: unknown URI scheme "ftp"`},
	} {
		_, err := indexconfig.ParseIndexConfig(c.text, drawUID)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.200s:\nerror %v\n want %s", c.text, err, c.want)
		} else if len(err.Error()) > 500 {
			t.Errorf("%.200s: message of %d bytes", c.text, len(err.Error()))
		}
	}
}

func TestParsingKeepsNoReferenceToTheText(t *testing.T) {
	t.Parallel()
	text := config(`"indexing_settings":{"parquet_indexing":{"a":1}}`)
	c, err := indexconfig.ParseIndexConfig(text, drawUID)
	if err != nil {
		t.Fatal(err)
	}
	before := string(c.AppendJSON(nil))
	for i := range text {
		text[i] = '#'
	}
	if after := string(c.AppendJSON(nil)); after != before {
		t.Errorf("the config changed with the text: %s", after)
	}
}
