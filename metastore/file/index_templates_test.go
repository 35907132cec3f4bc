package file

import (
	"fmt"
	"testing"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore/indexconfig"
)

func indexTemplate(t testing.TB, id string, priority uint64, patterns ...string) *indexconfig.IndexTemplate {
	t.Helper()
	text := fmt.Sprintf(`{"version":"0.9","template_id":%q,"index_id_patterns":["logs-*"],"priority":%d,"doc_mapping":{}}`, id, priority)
	template, err := indexconfig.ParseIndexTemplate([]byte(text), ulid.Make)
	if err != nil {
		t.Fatalf("index template: %v", err)
	}
	if len(patterns) > 0 {
		template.IndexIDPatterns = patterns
	}
	return template
}
