package indexconfig

import (
	"cmp"
	"slices"
)

// compareRanks orders templates by rank: of those that match an id, the first one
// counts. A higher priority is first, then the smaller id, bytewise.
func compareRanks(a, b *IndexTemplate) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.TemplateID, b.TemplateID))
}

// IndexTemplateMatcher finds the template of an index id among many.
type IndexTemplateMatcher struct{ ranked []*IndexTemplate }

// NewIndexTemplateMatcher makes a matcher of the templates, which stay as they are.
func NewIndexTemplateMatcher(templates []*IndexTemplate) *IndexTemplateMatcher {
	ranked := slices.Clone(templates)
	slices.SortFunc(ranked, compareRanks)
	return &IndexTemplateMatcher{ranked: ranked}
}

// Match returns the template that counts for an index id, nil if none matches. The
// id need not be valid. One that is longer than any index id matches nothing.
func (m *IndexTemplateMatcher) Match(indexID string) *IndexTemplate {
	if len(indexID) > maxIdentifierLength {
		return nil
	}
	for _, template := range m.ranked {
		if template.Match(indexID) {
			return template
		}
	}
	return nil
}
