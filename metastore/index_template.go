package metastore

import (
	"context"
	"slices"

	"holdfast/metastore/indexconfig"
)

// IndexTemplateMatch is the template that counts for an index id.
type IndexTemplateMatch struct {
	IndexID  string
	Template *indexconfig.IndexTemplate
}

// ValidateIndexTemplate checks a template that is to be created: one that is not valid gives
// InvalidArgument, which names the template.
func ValidateIndexTemplate(template *indexconfig.IndexTemplate) error {
	if err := template.Validate(); err != nil {
		return InvalidArgument("index template %s is invalid: %s", quoteBounded(template.TemplateID), err)
	}
	return nil
}

// MatchIndexTemplates finds the template of each index id among all templates, as
// IndexTemplateStore.FindIndexTemplateMatches returns them. It fails with Timeout when ctx ends.
func MatchIndexTemplates(ctx context.Context, templates []*indexconfig.IndexTemplate, indexIDs []string) ([]IndexTemplateMatch, error) {
	matcher := indexconfig.NewIndexTemplateMatcher(templates)
	indexIDs = slices.Clone(indexIDs)
	slices.Sort(indexIDs)
	var matches []IndexTemplateMatch
	for i, id := range slices.Compact(indexIDs) {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, Timeout(context.Cause(ctx), "matching %d index ids with %d index templates", len(indexIDs), len(templates))
		}
		if template := matcher.Match(id); template != nil {
			matches = append(matches, IndexTemplateMatch{IndexID: id, Template: template})
		}
	}
	return matches, nil
}
