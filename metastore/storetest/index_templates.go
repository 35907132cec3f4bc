package storetest

import (
	"errors"
	"strings"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// indexTemplatesCases are about creating, reading and deleting index templates.
func indexTemplatesCases() []testCase {
	return []testCase{
		{"I-105 the templates of a list can be deleted, none too", func(b *bundle) {
			b.deleteTemplates()
			b.createTemplate(b.template("a", 1, "*"))
			b.deleteTemplates(b.listTemplates()...)
			b.wantIDs(b.listTemplates())
		}},
		{"I-106 a template that was created is listed with its patterns and its priority", func(b *bundle) {
			template := b.template("a", 100, "logs-*", "-logs-tmp")
			b.createTemplate(template)
			b.wantTemplate(template)
			b.wantIDs(b.listTemplates(), template.TemplateID)
		}},
		{"I-107 a template is not created twice", func(b *bundle) {
			template := b.template("a", 100, "logs-*")
			b.createTemplate(template)
			for _, again := range []*indexconfig.IndexTemplate{template, b.template("a", 5, "other-*")} {
				err := b.store.CreateIndexTemplate(b.ctx, again, false)
				b.wantError(err, metastore.KindAlreadyExists, metastore.IndexTemplateEntity(template.TemplateID))
			}
			b.wantTemplate(template)
			b.wantMatches(b.matches("other-1"))
		}},
		{"I-108 overwriting replaces a template, also by an equal one", func(b *bundle) {
			b.createTemplate(b.template("a", 100, "logs-*"))
			second := b.template("a", 200, "logs-*", "-logs-tmp")
			for range 2 {
				b.overwriteTemplate(second)
				b.wantTemplate(second)
				b.wantIDs(b.listTemplates(), second.TemplateID)
			}
		}},
		{"overwriting a template that does not exist creates it", func(b *bundle) {
			template := b.template("a", 1, "logs-*")
			b.overwriteTemplate(template)
			b.wantTemplate(template)
		}},
		{"I-109 an unknown template is not found", func(b *bundle) {
			for _, id := range []string{b.indexID("unknown"), "", "a b", "nul\x00nul", strings.Repeat("x", 300)} {
				_, err := b.store.IndexTemplate(b.ctx, id)
				b.wantError(err, metastore.KindNotFound, metastore.IndexTemplateEntity(id))
			}
		}},
		{"I-110 a template whose pattern has no star is returned as it was created", func(b *bundle) {
			template := b.template("a", 100, "logs")
			b.createTemplate(template)
			b.wantTemplate(template)
			b.wantMatches(b.matches("logs", "logs-1", "log"), "logs a")
		}},
		{"I-117 a listed template has everything that it was created with", func(b *bundle) {
			template := b.parseTemplate(`{"version":"0.9","template_id":"` + b.indexID("a") + `","index_id_patterns":["` + b.indexID("*") + `"],` +
				`"index_root_uri":"s3://bucket/auto","priority":7,"description":"for \"logs\"\u0000é","doc_mapping":` + docMapping + `,` +
				`"indexing_settings":{"commit_timeout_secs":30},"ingest_settings":{"min_shards":3},` +
				`"search_settings":{"default_search_fields":["body"]},"retention":{"period":"30 days","schedule":"daily"}}`)
			b.createTemplate(template)
			b.wantTemplate(template)
			if template.DocMapping.UID.String() != docMappingUID || *template.IndexRootURI != "s3://bucket/auto" || *template.DocMapping.TimestampField != "at" {
				b.Errorf("the template is %s", template.AppendJSON(nil))
			}
		}},
		{"I-118, I-119 and I-120 deleting removes the templates that exist, again and again", func(b *bundle) {
			for _, suffix := range []string{"a", "b", "c"} {
				b.createTemplate(b.template(suffix, 1, suffix+"-*"))
			}
			for range 2 {
				b.deleteTemplates(b.indexID("a"), b.indexID("c"), b.indexID("a"), b.indexID("unknown"), "", "nul\x00nul")
				b.wantIDs(b.listTemplates(), b.indexID("b"))
				b.wantMatches(b.matches("a-1", "b-1", "c-1"), "b-1 b")
			}
			b.createTemplate(b.template("a", 1, "a-*"))
			b.wantMatches(b.matches("a-1"), "a-1 a")
		}},
		{"templates are listed in the order of the bytes of their ids", func(b *bundle) {
			for _, suffix := range []string{"b", "B", "a_1", "a-1", "a1", "a.1"} {
				b.createTemplate(b.template(suffix, 1, suffix+"*"))
			}
			b.wantIDs(b.listTemplates(), b.indexID("B"), b.indexID("a-1"), b.indexID("a.1"), b.indexID("a1"), b.indexID("a_1"), b.indexID("b"))
		}},
		{"I-151, I-152, I-157, I-158, I-159 and canon H27 an invalid template is refused and changes nothing", func(b *bundle) {
			good := b.template("a", 1, "foo*")
			b.createTemplate(good)
			for _, overwrite := range []bool{false, true} {
				for name, invalid := range b.invalidTemplates() {
					err := b.store.CreateIndexTemplate(b.ctx, invalid, overwrite)
					if !errors.Is(err, metastore.ErrInvalidArgument) || !strings.Contains(err.Error(), invalid.TemplateID) {
						b.Errorf("%s: error %v, want InvalidArgument that names the template", name, err)
					}
				}
			}
			b.wantTemplate(good)
			b.wantIDs(b.listTemplates(), good.TemplateID)
		}},
		{"of clients that create one template at once, one succeeds", func(b *bundle) {
			succeeded := 0
			for i, err := range b.concurrently(8, func(i int) error {
				return b.store.CreateIndexTemplate(b.ctx, b.template("a", uint64(i), "foo*"), false)
			}) {
				if err == nil {
					succeeded++
					b.wantTemplate(b.template("a", uint64(i), "foo*"))
					continue
				}
				b.wantError(err, metastore.KindAlreadyExists, metastore.IndexTemplateEntity(b.indexID("a")))
			}
			if succeeded != 1 {
				b.Errorf("%d clients succeeded", succeeded)
			}
		}},
		{"clients that overwrite and delete the same templates in other orders at once all succeed", func(b *bundle) {
			suffixes := []string{"a", "b", "c", "d"}
			for _, err := range b.concurrently(8, func(i int) error {
				for range 5 {
					ids := make([]string, len(suffixes))
					for n := range suffixes {
						ids[n] = b.indexID(suffixes[(n*(1+2*(i%2))+i)%len(suffixes)])
						if err := b.store.CreateIndexTemplate(b.ctx, b.template(suffixes[(n+i)%len(suffixes)], uint64(i), "foo*"), true); err != nil {
							return err
						}
					}
					if err := b.store.DeleteIndexTemplates(b.ctx, ids); err != nil {
						return err
					}
				}
				return nil
			}) {
				if err != nil {
					b.Errorf("a client failed: %v", err)
				}
			}
			b.deleteTemplates(b.listTemplates()...)
			b.wantIDs(b.listTemplates())
		}},
	}
}

// invalidTemplates are templates of the id that b.template("a", …) has, or of no valid one, by what is wrong.
func (b *bundle) invalidTemplates() map[string]*indexconfig.IndexTemplate {
	invalid := map[string]*indexconfig.IndexTemplate{}
	for name, patterns := range map[string][]string{
		"no pattern": {}, "only negative ones": {"-foo*"}, "an empty one": {"foo*", ""}, "a lone dash": {"foo*", "-"}, "a short one": {"ab"},
		"a short negative one": {"foo*", "-ab"}, "behind a star": {"*", "a b"}, "two stars": {"foo**"}, "an underscore first": {"_foo*"},
		"two dashes": {"foo*", "--foo"}, "a character": {"foo!"}, "too long": {strings.Repeat("x", 256)}, "not ASCII": {"foo*", "é*"},
	} {
		template := b.template("a", 1)
		template.IndexIDPatterns = patterns
		invalid["patterns: "+name] = template
	}
	for _, id := range []string{"", "ab", "_abc", "-abc", ".abc", "a!c", "é12", strings.Repeat("x", 256)[:99] + "!"} {
		template := b.template("a", 1, "foo*")
		template.TemplateID = id
		invalid["id "+id] = template
	}
	unknown, period := "unknown", "soon"
	for name, change := range map[string]func(*indexconfig.IndexTemplate){
		"an unknown timestamp field": func(t *indexconfig.IndexTemplate) { t.DocMapping.TimestampField = &unknown },
		"an unknown default search field": func(t *indexconfig.IndexTemplate) {
			t.DocMapping.Mode, t.DocMapping.Dynamic = indexconfig.ModeStrict, nil
			t.SearchSettings.DefaultSearchFields = []string{unknown}
		},
		"a retention period": func(t *indexconfig.IndexTemplate) {
			t.Retention = &indexconfig.RetentionPolicy{Period: period, Schedule: "daily"}
		},
		"retention without timestamp field": func(t *indexconfig.IndexTemplate) {
			t.DocMapping.TimestampField = nil
			t.Retention = &indexconfig.RetentionPolicy{Period: "1 day", Schedule: "daily"}
		},
	} {
		template := b.template("a", 1, "foo*")
		change(template)
		invalid[name] = template
	}
	return invalid
}
