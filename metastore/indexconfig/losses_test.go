package indexconfig_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore/indexconfig"
	"holdfast/metastore/internal/losses"
)

// What the peer took from clients, spelled in every way that it reads, loses nothing when it is stored but keys that
// the peer does not read either.
func TestRecordedConfigsLoseOnlyKeysThatThePeerIgnores(t *testing.T) {
	t.Parallel()
	compared := 0
	var lossy []string
	compare := func(name, form string, before, after []byte) {
		compared++
		var lost losses.Ledger
		err := lost.Compare(losses.IndexMetadata, fmt.Appendf(nil, form, before), func(dst []byte) []byte { return fmt.Appendf(dst, form, after) })
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, loss := range lost.Losses() {
			lossy = append(lossy, fmt.Sprintf("%s: %s %s", name, loss.Reason, loss.First))
		}
	}
	const configForm, sourceForm = `{"index_config":%s}`, `{"sources":[%s]}`
	source := func(name string, text []byte) {
		config, err := indexconfig.ParseSourceConfig(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		compare(name, sourceForm, text, config.AppendJSON(nil))
	}
	for _, scenario := range recordedScenarios(t) {
		for i, step := range scenario.Steps {
			name := fmt.Sprintf("%s %d", scenario.Name, i)
			if step.answered().Code != "OK" {
				continue
			}
			switch step.RPC {
			case "CreateIndex":
				text := document(t, step.Request["indexConfigJson"])
				config, err := indexconfig.ParseIndexConfig(text, ulid.Make)
				if err != nil {
					continue // a deviation
				}
				compare(name, configForm, text, config.AppendJSON(nil))
				for _, text := range documents(t, step.Request["sourceConfigsJson"]) {
					source(name, text)
				}
			case "AddSource", "UpdateSource":
				source(name, document(t, step.Request["sourceConfigJson"]))
			}
		}
	}
	want := []string{
		"index-create-doc-mapping 8: left_out index_config.doc_mapping.tokenizers[3].whatever",
		"index-create-field-types 10: left_out index_config.doc_mapping.field_mappings[0].ignored_key",
		"index-create-full 14: left_out index_config.indexing_settings.merge_policy.merge_factor",
	}
	if slices.Sort(lossy); !slices.Equal(lossy, want) {
		t.Errorf("lost are\n%s\nwant\n%s", strings.Join(lossy, "\n"), strings.Join(want, "\n"))
	}
	if compared < 300 {
		t.Errorf("compared %d documents only", compared)
	}
}
