package indexconfig_test

import (
	"strings"
	"testing"

	"holdfast/metastore/indexconfig"
)

// What the recordings hold is played in recorded_test.go; these are cases
// beside and between them.

func TestMappingsThatAMapperCanBeBuiltFromAreAccepted(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{
		"timestamp two objects deep":           `"doc_mapping":{"field_mappings":[{"name":"a","type":"object","field_mappings":[{"name":"b","type":"object","field_mappings":[{"name":"ts","type":"datetime","fast":true}]}]}],"timestamp_field":"a.b.ts"}`,
		"timestamp with an escaped dot inside": `"doc_mapping":{"field_mappings":[{"name":"a","type":"object","field_mappings":[{"name":"b.ts","type":"datetime","fast":true}]}],"timestamp_field":"a.b\\.ts"}`,
		"the same name at two levels":          `"doc_mapping":{"field_mappings":[{"name":"a","type":"object","field_mappings":[{"name":"a","type":"u64"}]}]}`,
		"a dotted name beside an object":       `"doc_mapping":{"field_mappings":[{"name":"a.b","type":"u64"},{"name":"a","type":"object","field_mappings":[{"name":"b","type":"u64"}]}]}`,
		"a custom tokenizer":                   `"doc_mapping":{"tokenizers":[{"name":"mine","type":"simple"}],"field_mappings":[{"name":"a","type":"text","tokenizer":"mine"},{"name":"j","type":"json","tokenizer":"mine"},{"name":"c","type":"concatenate","concatenate_fields":["a","j"],"tokenizer":"mine"}],"dynamic_mapping":{"tokenizer":"mine"}}`,
		"tags of each type":                    `"doc_mapping":{"field_mappings":[{"name":"a","type":"u64"},{"name":"b","type":"array<i64>"},{"name":"c","type":"array<text>","tokenizer":"raw"},{"name":"o","type":"object","field_mappings":[{"name":"x","type":"u64"}]}],"tag_fields":["a","b","c","o.x"]}`,
		"a search field inside a json field":   `"doc_mapping":{"mode":"strict","field_mappings":[{"name":"j","type":"json"}]},"search_settings":{"default_search_fields":["j","j.a.b"]}`,
		"a search field that is concatenated":  `"doc_mapping":{"mode":"strict","field_mappings":[{"name":"a","type":"text"},{"name":"c","type":"concatenate","concatenate_fields":["a"]}]},"search_settings":{"default_search_fields":["c"]}`,
		"an undeclared search field":           `"search_settings":{"default_search_fields":["any.thing"]}`,
		"concatenate before what it names":     `"doc_mapping":{"field_mappings":[{"name":"c","type":"concatenate","concatenate_fields":["b","f","n","a"]},{"name":"b","type":"bool"},{"name":"f","type":"f64"},{"name":"n","type":"i64"},{"name":"a","type":"array<text>"}]}`,
		"both merge factors zero (H35)":        `"indexing_settings":{"merge_policy":{"type":"limit_merge","merge_factor":0,"max_merge_factor":0}}`,
		"a longest name":                       `"doc_mapping":{"field_mappings":[{"name":"` + strings.Repeat("a", 255) + `","type":"u64"}]}`,
	} {
		if _, err := indexconfig.ParseIndexConfig(config(keys), drawUID); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMappingsThatNoMapperCanBeBuiltFromAreRefused(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{
		"timestamp is an object":              `"doc_mapping":{"field_mappings":[{"name":"a","type":"object","field_mappings":[{"name":"ts","type":"datetime","fast":true}]}],"timestamp_field":"a"}`,
		"timestamp goes on after a field":     `"doc_mapping":{"field_mappings":[{"name":"ts","type":"datetime","fast":true}],"timestamp_field":"ts.x"}`,
		"timestamp with an unescaped dot":     `"doc_mapping":{"field_mappings":[{"name":"a.ts","type":"datetime","fast":true}],"timestamp_field":"a.ts"}`,
		"tag inside a json field":             `"doc_mapping":{"field_mappings":[{"name":"j","type":"json"}],"tag_fields":["j.a"]}`,
		"tag is a json field":                 `"doc_mapping":{"field_mappings":[{"name":"j","type":"json"}],"tag_fields":["j"]}`,
		"tag is a text field, not indexed":    `"doc_mapping":{"field_mappings":[{"name":"a","type":"text","indexed":false}],"tag_fields":["a"]}`,
		"search field after a field":          `"doc_mapping":{"mode":"strict","field_mappings":[{"name":"a","type":"text"}]},"search_settings":{"default_search_fields":["a.b"]}`,
		"search field is an object":           `"doc_mapping":{"mode":"lenient","field_mappings":[{"name":"a","type":"object","field_mappings":[{"name":"b","type":"text"}]}]},"search_settings":{"default_search_fields":["a"]}`,
		"search field is not indexed in json": `"doc_mapping":{"field_mappings":[{"name":"j","type":"json","indexed":false}]},"search_settings":{"default_search_fields":["j.a"]}`,
		"concatenate of an ip":                `"doc_mapping":{"field_mappings":[{"name":"a","type":"ip"},{"name":"c","type":"concatenate","concatenate_fields":["a"]}]}`,
		"concatenate of itself":               `"doc_mapping":{"field_mappings":[{"name":"c","type":"concatenate","concatenate_fields":["c"]}]}`,
		"concatenate of an object":            `"doc_mapping":{"field_mappings":[{"name":"a","type":"object","field_mappings":[{"name":"b","type":"text"}]},{"name":"c","type":"concatenate","concatenate_fields":["a"]}]}`,
		"tokenizer inside an object":          `"doc_mapping":{"field_mappings":[{"name":"a","type":"object","field_mappings":[{"name":"b","type":"text","tokenizer":"nope"}]}]}`,
		"json record, not indexed":            `"doc_mapping":{"field_mappings":[{"name":"j","type":"json","indexed":false,"record":"basic"}]}`,
		"dynamic tokenizer, not indexed":      `"doc_mapping":{"dynamic_mapping":{"indexed":false,"tokenizer":"raw"}}`,
		"a name of 256 characters":            `"doc_mapping":{"field_mappings":[{"name":"` + strings.Repeat("a", 256) + `","type":"u64"}]}`,
		"a type with an open bracket":         `"doc_mapping":{"field_mappings":[{"name":"a","type":"array<u64"}]}`,
		"an array of arrays":                  `"doc_mapping":{"field_mappings":[{"name":"a","type":"array<array<u64>>"}]}`,
		"a datetime format of % alone":        `"doc_mapping":{"field_mappings":[{"name":"a","type":"datetime","input_formats":["100%% %"]}]}`,
		"a normalizer with another key":       `"doc_mapping":{"field_mappings":[{"name":"a","type":"text","fast":{"normalizer":"raw","x":1}}]}`,
		"an option given as null":             `"doc_mapping":{"field_mappings":[{"name":"a","type":"text","stored":null}]}`,
		"an option given twice":               `"doc_mapping":{"field_mappings":[{"name":"a","type":"text","stored":true,"stored":true}]}`,
		"a type given twice":                  `"doc_mapping":{"field_mappings":[{"name":"a","type":"text","type":"text"}]}`,
		"no_merge given twice":                `"indexing_settings":{"merge_policy":{"type":"no_merge","type":"no_merge"}}`,
	} {
		if _, err := indexconfig.ParseIndexConfig(config(keys), drawUID); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestRegularExpressionsAreRefusedOnlyWhereEveryDialectWould(t *testing.T) {
	t.Parallel()
	tokenizer := func(pattern string) []byte {
		return config(`"doc_mapping":{"tokenizers":[{"name":"t","type":"regex","pattern":"` + strings.ReplaceAll(pattern, `\`, `\\`) + `"}]}`)
	}
	for _, pattern := range []string{`[^/]+`, `\w+`, `\p{Greek}`, `[a-z&&[^aeiou]]`, `a**`, `x{2000}`, `(?<year>\d{4})`, `\u00e9`, ``, `(?x) a b`} {
		if _, err := indexconfig.ParseIndexConfig(tokenizer(pattern), drawUID); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	for _, pattern := range []string{`(`, `)`, `a)b`, `[a-z`, `*a`, `a\`, `(?:a|b`} {
		if _, err := indexconfig.ParseIndexConfig(tokenizer(pattern), drawUID); err == nil {
			t.Errorf("%s: accepted", pattern)
		}
	}
}
