package indexconfig_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"holdfast/metastore/indexconfig"
)

// template is the text of a template with these keys in addition to the required ones.
func template(id, patterns, keys string) []byte {
	return []byte(`{"version":"0.9","template_id":"` + id + `","index_id_patterns":` + patterns + `,"doc_mapping":{}` + keys + `}`)
}

func mustTemplate(t testing.TB, text []byte) *indexconfig.IndexTemplate {
	t.Helper()
	parsed, err := indexconfig.ParseIndexTemplate(text, drawUID)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return parsed
}

func TestTheSmallestTemplateIsWrittenWithAllDefaults(t *testing.T) {
	t.Parallel()
	got := string(mustTemplate(t, template("logs", `["logs-*","-logs-test"]`, "")).AppendJSON(nil))
	want := `{"version":"0.9","template_id":"logs","index_id_patterns":["logs-*","-logs-test"],"index_root_uri":null,"priority":0,"description":null,` +
		`"doc_mapping":{"doc_mapping_uid":"` + someUID + `","mode":"dynamic","dynamic_mapping":{"indexed":true,"tokenizer":"raw","record":"basic","stored":true,"expand_dots":true,"fast":{"normalizer":"raw"}},` +
		`"field_mappings":[],"timestamp_field":null,"tag_fields":[],"max_num_partitions":200,"index_field_presence":false,"store_document_size":false,"store_source":false,"tokenizers":[]},` +
		`"indexing_settings":{"commit_timeout_secs":60,"docstore_compression_level":8,"docstore_blocksize":1000000,"split_num_docs_target":10000000,` +
		`"merge_policy":{"type":"stable_log","min_level_num_docs":100000,"merge_factor":10,"max_merge_factor":12,"maturation_period":"2days"},"resources":{"heap_size":2000000000}},` +
		`"ingest_settings":{"min_shards":1},"search_settings":{"default_search_fields":[]},"retention":null}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestATemplateOfAnOldVersionKeepsTheUIDOfItsMapping(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"0.7", "0.8", "0.9"} {
		for mapping, want := range map[string]string{`{}`: someUID, `{"doc_mapping_uid":"01J0000000000000000000D000"}`: "01J0000000000000000000D000"} {
			text := `{"version":"` + version + `","template_id":"t","index_id_patterns":[],"doc_mapping":` + mapping + `}`
			if got := mustTemplate(t, []byte(text)).DocMapping.UID.String(); got != want {
				t.Errorf("%s: UID %s, want %s", text, got, want)
			}
		}
	}
}

func TestARefusedTemplateIsNotOfTheShape(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		``:     "index_template",
		`null`: "index_template",
		`{"template_id":"t","index_id_patterns":[],"doc_mapping":{}}`:                 "version",
		`{"version":"0.6","template_id":"t","index_id_patterns":[],"doc_mapping":{}}`: "version",
		`{"version":"0.9","index_id_patterns":[],"doc_mapping":{}}`:                   "template_id",
		`{"version":"0.9","template_id":"t","doc_mapping":{}}`:                        "index_id_patterns",
		`{"version":"0.9","template_id":"t","index_id_patterns":[]}`:                  "doc_mapping",
		string(template("t", `"x*"`, "")):                                             "index_id_patterns",
		string(template("t", `[1]`, "")):                                              "index_id_patterns[0]",
		string(template("t", `[]`, `,"priority":-1`)):                                 "priority",
		string(template("t", `[]`, `,"priority":1.5`)):                                "priority",
		string(template("t", `[]`, `,"priority":18446744073709551616`)):               "priority",
		string(template("t", `[]`, `,"priority":null`)):                               "priority",
		string(template("t", `[]`, `,"index_root_uri":"what://x"`)):                   "index_root_uri",
		string(template("t", `[]`, `,"index_root_uri":""`)):                           "index_root_uri",
		string(template("t", `[]`, `,"description":1`)):                               "description",
		string(template("t", `[]`, `,"colour":"red"`)):                                "colour",
		string(template("t", `[]`, `,"retention":{}`)):                                "period",
		string(template("t", `[]`, ``)) + "x":                                         "index_template",
	} {
		_, err := indexconfig.ParseIndexTemplate([]byte(text), drawUID)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want one about %s", text, err, says)
			continue
		}
		checkError(t, err)
	}
}

func TestAnInvalidTemplateNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	const good = `["logs-*"]`
	for text, says := range map[string]string{
		string(template("", good, "")):                                    "template_id",
		string(template("ab", good, "")):                                  "template_id",
		string(template("_ab", good, "")):                                 "template_id",
		string(template("a b", good, "")):                                 "template_id",
		string(template(strings.Repeat("x", 256), good, "")):              "template_id",
		string(template("logs", `[]`, "")):                                "index_id_patterns",
		string(template("logs", `[""]`, "")):                              "index_id_patterns: [0]",
		string(template("logs", `["logs-*","lo"]`, "")):                   "index_id_patterns: [1]",
		string(template("logs", `["*","lo"]`, "")):                        "index_id_patterns: [1]",
		string(template("logs", `["logs-*","-"]`, "")):                    "index_id_patterns: [1]",
		string(template("logs", `["logs-*","-ab"]`, "")):                  "index_id_patterns: [1]",
		string(template("logs", `["logs-*","--logs"]`, "")):               "index_id_patterns: [1]",
		string(template("logs", `["logs**"]`, "")):                        "index_id_patterns: [0]",
		string(template("logs", `["-logs-*"]`, "")):                       "positive",
		string(template("logs", good, `,"retention":{"period":"soon"}`)):  "retention.period",
		string(template("logs", good, `,"retention":{"period":"1 day"}`)): "timestamp_field",
		string(template("logs", good, `,"indexing_settings":{"merge_policy":{"type":"stable_log","merge_factor":10,"max_merge_factor":2}}`)):                      "merge_policy",
		`{"version":"0.9","template_id":"logs","index_id_patterns":["logs-*"],"doc_mapping":{"timestamp_field":"at"}}`:                                            "timestamp_field",
		`{"version":"0.9","template_id":"logs","index_id_patterns":["logs-*"],"doc_mapping":{"mode":"strict"},"search_settings":{"default_search_fields":["x"]}}`: "default_search_fields",
	} {
		err := mustTemplate(t, []byte(text)).Validate()
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want one about %s", text, err, says)
			continue
		}
		checkError(t, err)
	}
	for _, patterns := range []string{good, `["*"]`, `["a*"]`, `["abc","-*-test","-abc"]`} {
		if err := mustTemplate(t, template("logs", patterns, "")).Validate(); err != nil {
			t.Errorf("patterns %s: %v", patterns, err)
		}
	}
}

func TestTheTemplateOfTheHighestPriorityCountsThenTheSmallestID(t *testing.T) {
	t.Parallel()
	base := mustTemplate(t, template("base", `["svc-*"]`, `,"priority":10`))
	eu := mustTemplate(t, template("eu", `["svc-eu*","-svc-eu-tmp","-svc-eu-old*"]`, `,"priority":20`))
	zz := mustTemplate(t, template("zz", `["svc-eu*"]`, `,"priority":20`))
	huge := mustTemplate(t, template("huge", `["svc_x"]`, `,"priority":18446744073709551615`))
	matcher := indexconfig.NewIndexTemplateMatcher([]*indexconfig.IndexTemplate{zz, base, huge, eu})
	for id, want := range map[string]string{
		"svc-us": "base", "svc-eu-1": "eu", "svc-eu-tmp": "zz", "svc-eu-old-1": "zz", "svc_x": "huge", "svc-x": "base",
		"other": "", "": "", "SVC-us": "", "svc-" + strings.Repeat("x", 251): "base", "svc-" + strings.Repeat("x", 252): "",
	} {
		got := ""
		if template := matcher.Match(id); template != nil {
			got = template.TemplateID
		}
		if got != want {
			t.Errorf("%q: template %q, want %q", id, got, want)
		}
	}
}

func TestTheMatcherFindsWhatASearchOfAllTemplatesFinds(t *testing.T) {
	t.Parallel()
	pattern := rapid.StringMatching(`-?[ab*]{1,3}`)
	rapid.Check(t, func(t *rapid.T) {
		var templates []*indexconfig.IndexTemplate
		for i := range rapid.IntRange(0, 5).Draw(t, "templates") {
			templates = append(templates, &indexconfig.IndexTemplate{
				TemplateID:      fmt.Sprint("t", i),
				IndexIDPatterns: rapid.SliceOfN(pattern, 0, 4).Draw(t, "patterns"),
				Priority:        rapid.Uint64Range(0, 2).Draw(t, "priority"),
			})
		}
		id := rapid.StringMatching(`[ab]{0,4}`).Draw(t, "id")
		var want *indexconfig.IndexTemplate
		for _, template := range templates {
			if template.Match(id) && (want == nil || template.Priority > want.Priority) {
				want = template
			}
		}
		shuffled := rapid.Permutation(templates).Draw(t, "order")
		if got := indexconfig.NewIndexTemplateMatcher(shuffled).Match(id); got != want {
			t.Fatalf("%q: got %v, want %v", id, got, want)
		}
	})
}

func TestAStoredTemplateIsReadEvenIfItIsNotValid(t *testing.T) {
	t.Parallel()
	stored, err := indexconfig.ParseStoredIndexTemplate(template("_", `["-ab"]`, `,"index_root_uri":"what://x","retention":{"period":"soon"}`))
	if err != nil || !stored.Readable() || *stored.IndexRootURI != "what://x" {
		t.Fatalf("read %+v, %v", stored, err)
	}
	if stored.Match("abc") || stored.Match("ab") {
		t.Error("a template without positive patterns matches")
	}
}

func TestAStoredTemplateOfAnotherShapeIsCarriedAndStillMatches(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]indexconfig.IndexTemplate{
		`{"version":"1.0","template_id":"t","index_id_patterns":["x*"],"priority":7,"doc_mapping":{}}`: {IndexIDPatterns: []string{"x*"}, Priority: 7},
		`{"template_id":"t","doc_mapping":{"mode":"new_mode"},"index_id_patterns":{"any":["x*"]}}`:     {IndexIDPatterns: []string{}},
		`{"template_id":"t","priority":-1,"index_id_patterns":["x*",1]}`:                               {IndexIDPatterns: []string{}},
	} {
		stored, err := indexconfig.ParseStoredIndexTemplate([]byte(" " + text + "\n"))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if stored.Readable() || stored.TemplateID != "t" || !slices.Equal(stored.IndexIDPatterns, want.IndexIDPatterns) || stored.Priority != want.Priority {
			t.Errorf("%s: read as %+v", text, stored)
		}
		if got := string(stored.AppendJSON(nil)); got != text {
			t.Errorf("wrote %s\nwant  %s", got, text)
		}
	}
	for _, text := range []string{``, `[]`, `{}`, `{"template_id":1}`, `{"version":"0.9"}`} {
		if _, err := indexconfig.ParseStoredIndexTemplate([]byte(text)); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
