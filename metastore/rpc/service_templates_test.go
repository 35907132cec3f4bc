package rpc_test

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/rpc"
	"holdfast/proto/metastorepb"
)

func TestATemplateThatDoesNotParseIsNamedAsThePeerNamesIt(t *testing.T) {
	t.Parallel()
	b := serve(t, &scripted{}, rpc.ServerOptions{}) // a call that reached the store would panic
	for _, document := range []string{"", "{", "null", `{"version":"0.9"}`} {
		got := failing(b, b.metastore.CreateIndexTemplate, &metastorepb.CreateIndexTemplateRequest{IndexTemplateJson: document, Overwrite: true})
		if want := `{"JsonDeserializeError":{"struct_name":"quickwit_config::index_template::IndexTemplate"`; got.Code() != codes.Internal || !strings.HasPrefix(got.detail(), want) {
			t.Errorf("%q: code %s, detail %s, want Internal with %s...", document, got.Code(), got.detail(), want)
		}
	}
}

// matching is a store that finds one template for every id.
type matching struct {
	metastore.Store
	template *indexconfig.IndexTemplate
}

func (m *matching) FindIndexTemplateMatches(_ context.Context, indexIDs []string) ([]metastore.IndexTemplateMatch, error) {
	matches := make([]metastore.IndexTemplateMatch, len(indexIDs))
	for i, id := range indexIDs {
		matches[i] = metastore.IndexTemplateMatch{IndexID: id, Template: m.template}
	}
	return matches, nil
}

func TestMoreMatchesThanAMessageHoldsAreRefusedForGood(t *testing.T) {
	t.Parallel()
	template, err := indexconfig.ParseIndexTemplate([]byte(`{"version":"0.9","template_id":"logs","index_id_patterns":["*"],"description":"`+strings.Repeat("x", 100_000)+`","doc_mapping":{}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := serve(t, &matching{template: template}, rpc.ServerOptions{MaxMessageSize: rpc.MinMaxMessageSize})
	got := failing(b, b.metastore.FindIndexTemplateMatches, &metastorepb.FindIndexTemplateMatchesRequest{IndexIds: make([]string, 1000)})
	if got.Code() != codes.InvalidArgument || !strings.Contains(got.detail(), "ask for fewer index ids at once") {
		t.Errorf("code %s, detail %s, want InvalidArgument with advice", got.Code(), got.detail())
	}
}
