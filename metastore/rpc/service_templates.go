package rpc

import (
	"context"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/proto/metastorepb"
)

// structIndexTemplate is the peer's name of the document, which errors about it carry.
const structIndexTemplate = "quickwit_config::index_template::IndexTemplate"

// CreateIndexTemplate implements MetastoreService.
func (s *service) CreateIndexTemplate(ctx context.Context, request *metastorepb.CreateIndexTemplateRequest) (*metastorepb.EmptyResponse, error) {
	template, err := indexconfig.ParseIndexTemplate(bytesOf(request.GetIndexTemplateJson()), newULIDs(ctx))
	if err != nil {
		return nil, metastore.JSONDeserialize(structIndexTemplate, err)
	}
	return s.write(ctx, request, "template/"+template.TemplateID, func(ctx context.Context, store metastore.Store) error {
		return store.CreateIndexTemplate(ctx, template, request.GetOverwrite())
	})
}

// GetIndexTemplate implements MetastoreService.
func (s *service) GetIndexTemplate(ctx context.Context, request *metastorepb.GetIndexTemplateRequest) (*metastorepb.GetIndexTemplateResponse, error) {
	ctx, cancel := s.reading(ctx)
	defer cancel()
	template, err := s.store.IndexTemplate(ctx, request.GetTemplateId())
	if err != nil {
		return nil, err
	}
	response := &metastorepb.GetIndexTemplateResponse{IndexTemplateJson: string(template.AppendJSON(nil))}
	return response, s.fitMessage(response, "the server must be set up with a higher limit")
}

// FindIndexTemplateMatches implements MetastoreService.
func (s *service) FindIndexTemplateMatches(ctx context.Context, request *metastorepb.FindIndexTemplateMatchesRequest) (*metastorepb.FindIndexTemplateMatchesResponse, error) {
	ctx, cancel := s.reading(ctx)
	defer cancel()
	matches, err := s.store.FindIndexTemplateMatches(ctx, request.GetIndexIds())
	if err != nil {
		return nil, err
	}
	response := &metastorepb.FindIndexTemplateMatchesResponse{Matches: make([]*metastorepb.IndexTemplateMatch, len(matches))}
	documents := map[*indexconfig.IndexTemplate]string{}
	for i, match := range matches {
		document, written := documents[match.Template]
		if !written {
			document = string(match.Template.AppendJSON(nil))
			documents[match.Template] = document
		}
		response.Matches[i] = &metastorepb.IndexTemplateMatch{
			IndexId:           match.IndexID,
			TemplateId:        match.Template.TemplateID,
			IndexTemplateJson: document,
		}
	}
	return response, s.fitMessage(response, "ask for fewer index ids at once")
}

// ListIndexTemplates implements MetastoreService.
func (s *service) ListIndexTemplates(ctx context.Context, _ *metastorepb.ListIndexTemplatesRequest) (*metastorepb.ListIndexTemplatesResponse, error) {
	ctx, cancel := s.reading(ctx)
	defer cancel()
	templates, err := s.store.ListIndexTemplates(ctx)
	if err != nil {
		return nil, err
	}
	response := &metastorepb.ListIndexTemplatesResponse{IndexTemplatesJson: make([]string, len(templates))}
	for i, template := range templates {
		response.IndexTemplatesJson[i] = string(template.AppendJSON(nil))
	}
	return response, s.fitMessage(response, "the server must be set up with a higher limit")
}

// DeleteIndexTemplates implements MetastoreService.
func (s *service) DeleteIndexTemplates(ctx context.Context, request *metastorepb.DeleteIndexTemplatesRequest) (*metastorepb.EmptyResponse, error) {
	return s.write(ctx, request, templatesResource(request.GetTemplateIds()), func(ctx context.Context, store metastore.Store) error {
		return store.DeleteIndexTemplates(ctx, request.GetTemplateIds())
	})
}
