package main

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/rpc"
)

// templateMatch is what match prints as JSON for each index id.
type templateMatch struct {
	IndexID    string  `json:"index_id"`
	TemplateID *string `json:"template_id"` // null: no template is for this id
}

func (c *command) templateMatch(f *clientFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "match INDEX...",
		Short: "Show which index template counts for an index id",
		Long: `Show which index template counts for index ids, which need not exist: of those that match, the one with
the highest priority.

With --format json: [{"index_id", "template_id"}], the template null if none matches.`,
		Example: "  metastore template match web-access web-test-1",
		RunE: c.work(func(cmd *cobra.Command, ids []string) error {
			if len(ids) == 0 {
				return usagef("no index id is given: which indexes?")
			}
			return c.withClient(cmd, f, func(ctx context.Context, client *rpc.Client) error {
				found, err := client.FindIndexTemplateMatches(ctx, ids)
				if err != nil {
					return f.explain(ctx, err, "match index templates")
				}
				return c.printMatches(f, ids, found)
			})
		}),
	}
}

func (c *command) printMatches(f *clientFlags, ids []string, found []metastore.IndexTemplateMatch) error {
	templates := make(map[string]*indexconfig.IndexTemplate, len(found))
	for _, match := range found {
		templates[match.IndexID] = match.Template
	}
	if f.format == output.JSON {
		matches := make([]templateMatch, len(ids))
		for i, id := range ids {
			matches[i].IndexID = id
			if template := templates[id]; template != nil {
				matches[i].TemplateID = &template.TemplateID
			}
		}
		return json.NewEncoder(c.stdout).Encode(matches)
	}
	table := output.NewTable(c.stdout, "INDEX", "TEMPLATE", ">PRIORITY", "INDEX ID PATTERNS")
	for _, id := range ids {
		cells := []string{id, "none", "", ""}
		if template := templates[id]; template != nil {
			cells = []string{id, template.TemplateID, output.Count(template.Priority), listOrNone(template.IndexIDPatterns)}
		}
		if err := table.Row(cells...); err != nil {
			return err
		}
	}
	return table.Close()
}
