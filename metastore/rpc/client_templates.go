package rpc

import (
	"context"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/proto/metastorepb"
)

// CreateIndexTemplate implements metastore.Store.
func (c *Client) CreateIndexTemplate(ctx context.Context, template *indexconfig.IndexTemplate, overwrite bool) error {
	request := &metastorepb.CreateIndexTemplateRequest{IndexTemplateJson: string(template.AppendJSON(nil)), Overwrite: overwrite}
	if _, err := c.metastore.CreateIndexTemplate(ctx, request); err != nil {
		return callError(ctx, "create index template", err)
	}
	return nil
}

// IndexTemplate implements metastore.Store.
func (c *Client) IndexTemplate(ctx context.Context, templateID string) (*indexconfig.IndexTemplate, error) {
	const operation = "get index template"
	response, err := c.metastore.GetIndexTemplate(ctx, &metastorepb.GetIndexTemplateRequest{TemplateId: templateID}, repeatable)
	if err != nil {
		return nil, callError(ctx, operation, err)
	}
	return parseTemplate(operation, response.GetIndexTemplateJson())
}

// FindIndexTemplateMatches implements metastore.Store.
func (c *Client) FindIndexTemplateMatches(ctx context.Context, indexIDs []string) ([]metastore.IndexTemplateMatch, error) {
	const operation = "find index template matches"
	response, err := c.metastore.FindIndexTemplateMatches(ctx, &metastorepb.FindIndexTemplateMatchesRequest{IndexIds: indexIDs}, repeatable)
	if err != nil {
		return nil, callError(ctx, operation, err)
	}
	matches := make([]metastore.IndexTemplateMatch, len(response.GetMatches()))
	parsed := map[string]*indexconfig.IndexTemplate{}
	for i, message := range response.GetMatches() {
		template := parsed[message.GetIndexTemplateJson()]
		if template == nil {
			if template, err = parseTemplate(operation, message.GetIndexTemplateJson()); err != nil {
				return nil, err
			}
			parsed[message.GetIndexTemplateJson()] = template
		}
		matches[i] = metastore.IndexTemplateMatch{IndexID: message.GetIndexId(), Template: template}
	}
	return matches, nil
}

// ListIndexTemplates implements metastore.Store.
func (c *Client) ListIndexTemplates(ctx context.Context) ([]*indexconfig.IndexTemplate, error) {
	const operation = "list index templates"
	response, err := c.metastore.ListIndexTemplates(ctx, &metastorepb.ListIndexTemplatesRequest{}, repeatable)
	if err != nil {
		return nil, callError(ctx, operation, err)
	}
	templates := make([]*indexconfig.IndexTemplate, len(response.GetIndexTemplatesJson()))
	for i, document := range response.GetIndexTemplatesJson() {
		if templates[i], err = parseTemplate(operation, document); err != nil {
			return nil, err
		}
	}
	return templates, nil
}

// DeleteIndexTemplates implements metastore.Store.
func (c *Client) DeleteIndexTemplates(ctx context.Context, templateIDs []string) error {
	_, err := c.metastore.DeleteIndexTemplates(ctx, &metastorepb.DeleteIndexTemplatesRequest{TemplateIds: templateIDs})
	if err != nil {
		return callError(ctx, "delete index templates", err)
	}
	return nil
}

func parseTemplate(operation, document string) (*indexconfig.IndexTemplate, error) {
	template, err := indexconfig.ParseStoredIndexTemplate(bytesOf(document))
	if err != nil {
		return nil, metastore.Internal(err, "%s: the server's answer", operation)
	}
	return template, nil
}
