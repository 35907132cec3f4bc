package file

import (
	"context"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// CreateIndexTemplate implements metastore.IndexTemplateStore.
func (s *Store) CreateIndexTemplate(ctx context.Context, template *indexconfig.IndexTemplate, overwrite bool) error {
	if err := metastore.ValidateIndexTemplate(template); err != nil {
		return err
	}
	put := putTemplateOp{template}
	bytes := len(put.append(nil))
	return s.root.once(ctx, s.record, bytes, func(root *rootState, _ uint64, _ bool) ([]op, error) {
		existing, exists := root.templates.Get(template.TemplateID)
		switch {
		case exists && !overwrite:
			return nil, metastore.AlreadyExists(metastore.IndexTemplateEntity(template.TemplateID))
		case exists && existing.Equal(template):
			return nil, nil
		}
		return []op{put}, nil
	})
}

// IndexTemplate implements metastore.IndexTemplateStore.
func (s *Store) IndexTemplate(ctx context.Context, templateID string) (*indexconfig.IndexTemplate, error) {
	root, err := s.root.fresh(ctx)
	if err != nil {
		return nil, err
	}
	template, exists := root.state.templates.Get(templateID)
	if !exists {
		return nil, metastore.NotFound(metastore.IndexTemplateEntity(templateID))
	}
	return template, nil
}

// FindIndexTemplateMatches implements metastore.IndexTemplateStore.
func (s *Store) FindIndexTemplateMatches(ctx context.Context, indexIDs []string) ([]metastore.IndexTemplateMatch, error) {
	templates, err := s.ListIndexTemplates(ctx)
	if err != nil {
		return nil, err
	}
	return metastore.MatchIndexTemplates(ctx, templates, indexIDs)
}

// ListIndexTemplates implements metastore.IndexTemplateStore.
func (s *Store) ListIndexTemplates(ctx context.Context) ([]*indexconfig.IndexTemplate, error) {
	root, err := s.root.fresh(ctx)
	if err != nil {
		return nil, err
	}
	return root.state.templates.Values(), nil
}

// DeleteIndexTemplates implements metastore.IndexTemplateStore.
func (s *Store) DeleteIndexTemplates(ctx context.Context, templateIDs []string) error {
	bytes := 0
	for _, id := range templateIDs {
		bytes += len(id) + 3
	}
	return s.root.once(ctx, s.record, bytes, func(root *rootState, _ uint64, _ bool) ([]op, error) {
		var known dropTemplatesOp
		seen := make(map[string]struct{})
		for _, id := range templateIDs {
			if _, exists := root.templates.Get(id); !exists {
				continue
			}
			if _, again := seen[id]; !again {
				seen[id] = struct{}{}
				known = append(known, id)
			}
		}
		if len(known) == 0 {
			return nil, nil
		}
		return []op{known}, nil
	})
}
