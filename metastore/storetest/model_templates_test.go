package storetest

import (
	"context"
	"slices"
	"strings"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

func (m *model) CreateIndexTemplate(_ context.Context, template *indexconfig.IndexTemplate, overwrite bool) error {
	if err := metastore.ValidateIndexTemplate(template); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.templates[template.TemplateID] != nil && !overwrite {
		return metastore.AlreadyExists(metastore.IndexTemplateEntity(template.TemplateID))
	}
	m.templates[template.TemplateID] = template
	return nil
}

func (m *model) IndexTemplate(_ context.Context, templateID string) (*indexconfig.IndexTemplate, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	template := m.templates[templateID]
	if template == nil {
		return nil, metastore.NotFound(metastore.IndexTemplateEntity(templateID))
	}
	return template, nil
}

func (m *model) FindIndexTemplateMatches(ctx context.Context, indexIDs []string) ([]metastore.IndexTemplateMatch, error) {
	templates, err := m.ListIndexTemplates(ctx)
	if err != nil {
		return nil, err
	}
	var matches []metastore.IndexTemplateMatch
	for _, id := range slices.Compact(slices.Sorted(slices.Values(indexIDs))) {
		var best *indexconfig.IndexTemplate
		for _, template := range templates {
			if template.Match(id) && (best == nil || template.Priority > best.Priority) {
				best = template
			}
		}
		if best != nil {
			matches = append(matches, metastore.IndexTemplateMatch{IndexID: id, Template: best})
		}
	}
	return matches, nil
}

func (m *model) ListIndexTemplates(context.Context) ([]*indexconfig.IndexTemplate, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var templates []*indexconfig.IndexTemplate
	for _, template := range m.templates {
		templates = append(templates, template)
	}
	slices.SortFunc(templates, func(a, b *indexconfig.IndexTemplate) int { return strings.Compare(a.TemplateID, b.TemplateID) })
	return templates, nil
}

func (m *model) DeleteIndexTemplates(_ context.Context, templateIDs []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range templateIDs {
		delete(m.templates, id)
	}
	return nil
}
