package storetest

import (
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore/indexconfig"
)

// template returns a template of this case; of its patterns the ids of the case are the rest behind the prefix.
func (b *bundle) template(suffix string, priority uint64, patterns ...string) *indexconfig.IndexTemplate {
	b.Helper()
	own := make([]string, len(patterns))
	for i, pattern := range patterns {
		rest, negative := strings.CutPrefix(pattern, "-")
		own[i] = b.indexID(rest)
		if negative {
			own[i] = "-" + own[i]
		}
	}
	template := b.parseTemplate(`{"version":"0.9","template_id":"` + b.indexID(suffix) + `","index_id_patterns":[],"doc_mapping":` + docMapping + `}`)
	template.IndexIDPatterns, template.Priority = own, priority
	return template
}

func (b *bundle) parseTemplate(text string) *indexconfig.IndexTemplate {
	b.Helper()
	template, err := indexconfig.ParseIndexTemplate([]byte(text), ulid.Make)
	if err != nil {
		b.Fatalf("parse index template: %v", err)
	}
	return template
}

func (b *bundle) createTemplate(template *indexconfig.IndexTemplate) {
	b.Helper()
	if err := b.store.CreateIndexTemplate(b.ctx, template, false); err != nil {
		b.Fatalf("create index template: %v", err)
	}
}

func (b *bundle) overwriteTemplate(template *indexconfig.IndexTemplate) {
	b.Helper()
	if err := b.store.CreateIndexTemplate(b.ctx, template, true); err != nil {
		b.Fatalf("overwrite index template: %v", err)
	}
}

func (b *bundle) deleteTemplates(ids ...string) {
	b.Helper()
	if err := b.store.DeleteIndexTemplates(b.ctx, ids); err != nil {
		b.Fatalf("delete index templates: %v", err)
	}
}

// wantTemplate checks the template of an id, byte for byte.
func (b *bundle) wantTemplate(want *indexconfig.IndexTemplate) {
	b.Helper()
	got, err := b.store.IndexTemplate(b.ctx, want.TemplateID)
	if err != nil {
		b.Fatalf("index template %q: %v", want.TemplateID, err)
	}
	if !got.Equal(want) {
		b.Errorf("index template %q is\n%s, want\n%s", want.TemplateID, got.AppendJSON(nil), want.AppendJSON(nil))
	}
}

// listTemplates returns the ids of the templates of this case, in the order of the store.
func (b *bundle) listTemplates() []string {
	b.Helper()
	templates, err := b.store.ListIndexTemplates(b.ctx)
	if err != nil {
		b.Fatalf("list index templates: %v", err)
	}
	var ids []string
	for _, template := range templates {
		if strings.HasPrefix(template.TemplateID, b.prefix) {
			ids = append(ids, template.TemplateID)
		}
	}
	return ids
}

// matches returns "index id template id" for each of these ids of the case that a template matches, without the prefix.
func (b *bundle) matches(suffixes ...string) []string {
	b.Helper()
	ids := make([]string, len(suffixes))
	for i, suffix := range suffixes {
		ids[i] = b.indexID(suffix)
	}
	found, err := b.store.FindIndexTemplateMatches(b.ctx, ids)
	if err != nil {
		b.Fatalf("find index template matches: %v", err)
	}
	var matches []string
	for _, match := range found {
		matches = append(matches, strings.TrimPrefix(match.IndexID, b.prefix+"-")+" "+strings.TrimPrefix(match.Template.TemplateID, b.prefix+"-"))
	}
	return matches
}

func (b *bundle) wantMatches(got []string, want ...string) {
	b.Helper()
	if !slices.Equal(got, want) {
		b.Fatalf("matches are %q, want %q", got, want)
	}
}
