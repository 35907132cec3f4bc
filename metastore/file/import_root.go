package file

import (
	"context"
	"errors"
	"fmt"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// Content is what a store holds besides the content of its indexes.
type Content struct {
	// IndexIDs may have ids without an index.
	IndexIDs  []string
	Templates []*indexconfig.IndexTemplate
	// Identity is the cluster identity, empty if none was drawn.
	Identity string
	// Records is how many idempotency records of calls about no index there are.
	Records int
}

// Content returns what the store holds besides the content of its indexes.
func (s *Store) Content(ctx context.Context) (Content, error) {
	root, err := s.root.advance(ctx)
	if err != nil {
		return Content{}, err
	}
	return Content{
		IndexIDs:  root.state.indexIDs(nil),
		Templates: root.state.templates.Values(),
		Identity:  root.state.identity,
		Records:   root.state.records.len(),
	}, nil
}

// Empty reports whether the store has neither an index nor an index template.
func (s *Store) Empty(ctx context.Context) (bool, error) {
	content, err := s.Content(ctx)
	if err != nil || len(content.Templates) > 0 {
		return false, err
	}
	for _, id := range content.IndexIDs {
		_, err := s.ExportIndex(ctx, id)
		if err == nil {
			return false, nil
		}
		if !errors.Is(err, metastore.NotFound(metastore.IndexEntity(id))) {
			return false, err
		}
	}
	return true, nil
}

// ImportedTemplates says what became of templates, by their ids.
type ImportedTemplates struct {
	// Existed were there already, and equal.
	Existed []string
	// Differ were left alone, because the store has others of these ids.
	Differ []string
}

// ImportTemplates stores templates as they are, also those that a client could not create. Those of one call are stored
// together or not at all.
func (s *Store) ImportTemplates(ctx context.Context, templates []*indexconfig.IndexTemplate) (ImportedTemplates, error) {
	var imported ImportedTemplates
	bytes := 0
	for _, template := range templates {
		bytes += len(template.AppendJSON(nil))
	}
	err := s.root.submit(ctx, bytes, func(root *rootState, _ uint64, _ bool) ([]op, error) {
		imported = ImportedTemplates{}
		var ops []op
		for _, template := range templates {
			existing, exists := root.templates.Get(template.TemplateID)
			switch {
			case !exists:
				ops = append(ops, putTemplateOp{template})
			case existing.Equal(template):
				imported.Existed = append(imported.Existed, template.TemplateID)
			default:
				imported.Differ = append(imported.Differ, template.TemplateID)
			}
		}
		return ops, nil
	})
	return imported, err
}

// ImportIdentity gives the store a cluster identity unless it has one, and returns the one that it has. An
// empty identity changes nothing.
func (s *Store) ImportIdentity(ctx context.Context, identity string) (string, error) {
	has := ""
	err := s.root.submit(ctx, len(identity), func(root *rootState, _ uint64, _ bool) ([]op, error) {
		if has = root.identity; has != "" || identity == "" {
			return nil, nil
		}
		has = identity
		return []op{identityOp(identity)}, nil
	})
	if err != nil {
		return "", fmt.Errorf("setting the cluster identity: %w", err)
	}
	return has, nil
}
