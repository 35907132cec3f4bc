package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

func indexTemplate(t testing.TB, id, patterns string, priority uint64) *indexconfig.IndexTemplate {
	t.Helper()
	text := fmt.Sprintf(`{"version":"0.9","template_id":%q,"index_id_patterns":%s,"priority":%d,"doc_mapping":{}}`, id, patterns, priority)
	template, err := indexconfig.ParseIndexTemplate([]byte(text), ulid.Make)
	if err != nil {
		t.Fatal(err)
	}
	return template
}

func createTemplate(t testing.TB, store *Store, template *indexconfig.IndexTemplate) {
	t.Helper()
	if err := store.CreateIndexTemplate(context.Background(), template, true); err != nil {
		t.Fatal(err)
	}
}

func TestTheColumnsOfATemplateAreWhatThePeerMatchesBy(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	conn := connect(t, dsn)
	long := strings.Repeat("x_", 85) // 170 characters, 255 when escaped
	for patterns, want := range map[string]string{
		`["logs-*","-logs-tmp","web"]`:    `{logs-%,web} {logs-tmp}`,
		`["*"]`:                           `{%} {}`,
		`["w_b*","-*_*-tmp"]`:             `{"w\\_b%"} {"%\\_%-tmp"}`,
		`["` + long + `"]`:                `{"` + strings.ReplaceAll(long, "_", `\\_`) + `"} {}`,
		`["` + long + `_"]`:               `{` + long + `_} {}`,
		`["a.b*","-a-b","-c*","a*b*c*d"]`: `{a.b%,a%b%c%d} {a-b,c%}`,
	} {
		template := indexTemplate(t, "template", patterns, 7)
		createTemplate(t, store, template)
		got := queryValue[string](t, conn, "SELECT positive_index_id_patterns::text || ' ' || negative_index_id_patterns::text FROM index_templates WHERE template_id = 'template'")
		if got != want {
			t.Errorf("patterns %s: columns %s, want %s", patterns, got, want)
		}
		document := queryValue[string](t, conn, "SELECT index_template_json FROM index_templates")
		if want := string(template.AppendJSON(nil)); document != want {
			t.Errorf("the stored text is %s, want %s", document, want)
		}
	}
	for priority, want := range map[uint64]int32{0: 0, 1<<31 - 1: 1<<31 - 1, 1 << 31: 1<<31 - 1, 1 << 32: 1<<31 - 1, 1<<64 - 1: 1<<31 - 1} {
		createTemplate(t, store, indexTemplate(t, "template", `["*"]`, priority))
		if got := queryValue[int32](t, conn, "SELECT priority FROM index_templates"); got != want {
			t.Errorf("priority %d: column %d, want %d", priority, got, want)
		}
	}
}

func TestAnEscapedUnderscoreStandsForItselfInThePeersSearch(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	conn := connect(t, dsn)
	createTemplate(t, store, indexTemplate(t, "template", `["w_b*","-w_b-tmp*"]`, 1))
	for id, want := range map[string]bool{"w_b": true, "w_b-1": true, "web-1": false, "w_b-tmp-1": false} {
		const search = "SELECT count(*) FROM index_templates WHERE $1 LIKE ANY (positive_index_id_patterns) AND NOT $1 LIKE ANY (negative_index_id_patterns)"
		if got := queryValue[int64](t, conn, search, id) == 1; got != want {
			t.Errorf("index id %q: found %v, want %v", id, got, want)
		}
	}
}

func TestOverwritingATemplateWithAnEqualOneWritesNothing(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	conn := connect(t, dsn)
	template := indexTemplate(t, "template", `["logs-*","-logs_tmp"]`, 1<<40)
	createTemplate(t, store, template)
	const rowVersion = "SELECT ctid::text || ' ' || xmin::text FROM index_templates"
	before := queryValue[string](t, conn, rowVersion)
	createTemplate(t, store, template)
	if after := queryValue[string](t, conn, rowVersion); after != before {
		t.Errorf("the row moved from %s to %s", before, after)
	}
}

func TestTemplatesThatThePeerStoredAreServed(t *testing.T) {
	t.Parallel()
	store, dsn := openStore(t, Options{})
	conn := connect(t, dsn)
	insert := func(id, positive, negative string, priority int32, document string) {
		exec(t, conn, "INSERT INTO index_templates VALUES ($1, $2::text::varchar[], $3::text::varchar[], $4, $5)", id, positive, negative, priority, document)
	}
	// Wrapped priority, unescaped underscore, old version, no UID, keys in another order; a shape of the future; never matching.
	insert("old", "{w_b%}", "{w_b-tmp,w_b-old}", -2147483648,
		`{"doc_mapping":{"document_length":true},"index_id_patterns":["w_b*","-w_b-tmp","-w_b-old"],"priority":2147483648,"template_id":"old","version":"0.7"}`)
	insert("new", "{w%}", "{}", 5, `{"version":"1.3","template_id":"new","index_id_patterns":["w*"],"priority":5,"colour":"red"}`)
	insert("never", "{}", "{ab}", 9, `{"version":"0.9","template_id":"never","index_id_patterns":["-ab"],"priority":9,"doc_mapping":{}}`)

	matches, err := store.FindIndexTemplateMatches(context.Background(), []string{"web", "w_b", "w_b-tmp", "ab"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, match := range matches {
		got = append(got, match.IndexID+" "+match.Template.TemplateID)
	}
	expect(t, got, "w_b old", "w_b-tmp new", "web new")
	old, err := store.IndexTemplate(context.Background(), "old")
	if err != nil {
		t.Fatal(err)
	}
	if text := string(old.AppendJSON(nil)); !strings.HasPrefix(text, `{"version":"0.9","template_id":"old"`) || !strings.Contains(text, `"doc_mapping_uid":"00000000000000000000000000"`) || !strings.Contains(text, `"store_document_size":true`) {
		t.Errorf("template old is answered as %s", text)
	}
	if err := store.CreateIndexTemplate(context.Background(), indexTemplate(t, "new", `["*"]`, 1), false); !errors.Is(err, metastore.ErrAlreadyExists) {
		t.Errorf("error %v, want AlreadyExists", err)
	}

	exec(t, conn, "INSERT INTO index_templates VALUES ('broken', '{a%}', '{}', 1, '{')")
	_, err = store.ListIndexTemplates(context.Background())
	expectKind(t, err, metastore.KindJSONDeserializeError)
	if err == nil || !strings.Contains(err.Error(), `"broken"`) {
		t.Errorf("error %v does not name the template", err)
	}
}

func BenchmarkFindIndexTemplateMatches(b *testing.B) {
	store, _ := openStore(b, Options{})
	for i := range 200 {
		createTemplate(b, store, indexTemplate(b, fmt.Sprintf("template-%03d", i), fmt.Sprintf(`["logs-%03d-*","-*-tmp"]`, i), uint64(i)))
	}
	ids := make([]string, 100)
	for i := range ids {
		ids[i] = fmt.Sprintf("logs-%03d-eu", 2*i)
	}
	for b.Loop() {
		if matches, err := store.FindIndexTemplateMatches(b.Context(), ids); err != nil || len(matches) != len(ids) {
			b.Fatalf("%d matches, %v", len(matches), err)
		}
	}
}
