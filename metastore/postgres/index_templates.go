package postgres

import (
	"context"
	"fmt"
	"math"
	"strings"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// CreateIndexTemplate implements metastore.IndexTemplateStore.
func (s *Store) CreateIndexTemplate(ctx context.Context, template *indexconfig.IndexTemplate, overwrite bool) error {
	const operation = "creating an index template"
	if err := s.refuseReadOnly(operation); err != nil {
		return err
	}
	if err := metastore.ValidateIndexTemplate(template); err != nil {
		return err
	}
	args := templateArguments(template)
	if overwrite {
		return s.mutate(ctx, operation, "", func() []query {
			return []query{{sql: upsertIndexTemplateSQL, args: args}}
		})
	}
	var created bool
	return s.mutateIf(ctx, operation, "", func() []query {
		created = false
		return []query{{sql: insertIndexTemplateSQL, args: args, row: func(columns) error {
			created = true
			return nil
		}}}
	}, func() error {
		if !created {
			return metastore.AlreadyExists(metastore.IndexTemplateEntity(template.TemplateID))
		}
		return nil
	})
}

// IndexTemplate implements metastore.IndexTemplateStore.
func (s *Store) IndexTemplate(ctx context.Context, templateID string) (*indexconfig.IndexTemplate, error) {
	var template *indexconfig.IndexTemplate
	if isStorable(templateID) {
		err := s.read(ctx, "finding an index template", func() []query {
			template = nil
			return []query{{
				sql:  selectIndexTemplateSQL,
				args: [][]byte{textArgument(templateID)},
				row: func(row columns) (err error) {
					template, err = readIndexTemplate(templateID, row[0])
					return err
				},
			}}
		})
		if err != nil {
			return nil, err
		}
	}
	if template == nil {
		return nil, metastore.NotFound(metastore.IndexTemplateEntity(templateID))
	}
	return template, nil
}

// FindIndexTemplateMatches implements metastore.IndexTemplateStore. It matches by the documents: the columns cannot say all that
// a template says.
func (s *Store) FindIndexTemplateMatches(ctx context.Context, indexIDs []string) ([]metastore.IndexTemplateMatch, error) {
	if len(indexIDs) == 0 {
		return nil, nil
	}
	templates, err := s.ListIndexTemplates(ctx)
	if err != nil {
		return nil, err
	}
	return metastore.MatchIndexTemplates(ctx, templates, indexIDs)
}

// ListIndexTemplates implements metastore.IndexTemplateStore. A template that cannot be read fails the call, with its name.
func (s *Store) ListIndexTemplates(ctx context.Context) ([]*indexconfig.IndexTemplate, error) {
	var templates []*indexconfig.IndexTemplate
	err := s.read(ctx, "listing index templates", func() []query {
		templates = nil
		return []query{{sql: listIndexTemplatesSQL, row: func(row columns) error {
			template, err := readIndexTemplate(row.text(0), row[1])
			templates = append(templates, template)
			return err
		}}}
	})
	if err != nil {
		return nil, err
	}
	return templates, nil
}

// DeleteIndexTemplates implements metastore.IndexTemplateStore.
func (s *Store) DeleteIndexTemplates(ctx context.Context, templateIDs []string) error {
	const operation = "deleting index templates"
	if err := s.refuseReadOnly(operation); err != nil {
		return err
	}
	storable := storableTexts(templateIDs)
	if len(storable) == 0 {
		return nil
	}
	return s.mutate(ctx, operation, "", func() []query {
		return []query{{sql: deleteIndexTemplatesSQL, args: [][]byte{textArrayArgument(storable)}}}
	})
}

// readIndexTemplate parses a stored document. The peer stores what it was sent, so it may be of any version.
func readIndexTemplate(templateID string, document []byte) (*indexconfig.IndexTemplate, error) {
	template, err := indexconfig.ParseStoredIndexTemplate(document)
	if err != nil {
		return nil, metastore.JSONDeserialize("IndexTemplate", fmt.Errorf("stored index template %q: %w", templateID, err))
	}
	return template, nil
}

// templateArguments are the columns of a row, in their order. The peer matches by the patterns and the priority; we do not.
func templateArguments(template *indexconfig.IndexTemplate) [][]byte {
	var positive, negative []string
	for _, pattern := range template.IndexIDPatterns {
		if rest, ok := strings.CutPrefix(pattern, "-"); ok {
			negative = append(negative, likePattern(rest))
		} else {
			positive = append(positive, likePattern(pattern))
		}
	}
	return [][]byte{
		textArgument(template.TemplateID),
		textArrayArgument(positive),
		textArrayArgument(negative),
		// Not wrapped as by the peer, which ranks such a template last and cannot negate the lowest number.
		int8Argument(int64(min(template.Priority, math.MaxInt32))),
		template.AppendJSON(nil),
	}
}

// maxPatternColumn is how many characters the columns of patterns hold.
const maxPatternColumn = 255

// likePattern writes a valid index id pattern as the peer's LIKE reads it. An underscore stands for itself; the peer does not
// escape it, and where there is no room for that it is not escaped here either.
func likePattern(pattern string) string {
	like := strings.ReplaceAll(pattern, "*", "%")
	if escaped := strings.ReplaceAll(like, "_", `\_`); len(escaped) <= maxPatternColumn {
		return escaped
	}
	return like
}
