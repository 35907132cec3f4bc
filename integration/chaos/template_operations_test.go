package chaos

import (
	"context"
	"fmt"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

func templateOperations() []operation {
	return []operation{always(3, (*client).createTemplate), {2, (*client).overwriteTemplate}, {3, (*client).deleteTemplates}}
}

func (c *client) createTemplate(ctx context.Context) error {
	return c.putTemplate(ctx, c.newID(), uint64(c.made), c.random.IntN(2) == 0)
}

func template(id string, priority uint64) (*indexconfig.IndexTemplate, error) {
	return indexconfig.ParseIndexTemplate(fmt.Appendf(nil, `{"version":"0.9","template_id":%q,"index_id_patterns":["%s*"],"priority":%d,`+
		`"doc_mapping":{"doc_mapping_uid":"01J9ZJX0M3N4P5Q6R7S8T9V0W1","field_mappings":[]}}`, id, id, priority), ulid.Make)
}

func (c *client) putTemplate(ctx context.Context, id string, priority uint64, overwrite bool) error {
	made, err := template(id, priority)
	if err != nil {
		return err
	}
	c.templates[id] = priority
	_, err = c.must(ctx, "create index template", func(ctx context.Context, store metastore.Store) error {
		return store.CreateIndexTemplate(ctx, made, overwrite)
	})
	return err
}

// someTemplates are up to n that may be changed.
func (c *client) someTemplates(n int) []string {
	return c.pick(inState(c.templates, func(priority uint64) bool { return priority > 0 }), n)
}

func (c *client) overwriteTemplate(ctx context.Context) (bool, error) {
	ids := c.someTemplates(1)
	if len(ids) == 0 {
		return false, nil
	}
	return true, c.putTemplate(ctx, ids[0], c.templates[ids[0]]+1, true)
}

func (c *client) deleteTemplates(ctx context.Context) (bool, error) {
	ids := c.someTemplates(1 + c.random.IntN(2))
	if len(ids) == 0 {
		return false, nil
	}
	for _, id := range ids {
		delete(c.templates, id)
	}
	_, err := c.must(ctx, "delete index templates", func(ctx context.Context, store metastore.Store) error {
		return store.DeleteIndexTemplates(ctx, ids)
	})
	return true, err
}
