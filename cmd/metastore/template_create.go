package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/rpc"
)

const templateCreateHelp = `Create an index template from a config file in YAML or JSON, in the format of Quickwit's index
templates. The file must hold at least a version, an id, the patterns of the index ids that it is
for, and a doc mapping:

  version: 0.9
  template_id: web
  index_id_patterns: [web-*, -web-test-*]
  priority: 10
  index_root_uri: s3://my-bucket/indexes
  doc_mapping:
    field_mappings:
      - {name: at, type: datetime, fast: true}
    timestamp_field: at

A pattern that begins with "-" takes index ids out again. Of several templates that match an id
the one with the highest priority counts. ` + "`metastore template match ID`" + ` tries it.
Indexes that exist are not changed. A template whose id exists is replaced with --overwrite only.

With --format json: {"template_id"}.`

func (c *command) templateCreate(f *clientFlags) *cobra.Command {
	var path string
	overwrite := false
	cmd := &cobra.Command{
		Use:   "create --config FILE [--overwrite]",
		Short: "Create an index template from a config file",
		Long:  templateCreateHelp,
		Example: `  metastore template create --config web.template.yaml
  metastore template create --config web.template.yaml --overwrite`,
		Args: cobra.NoArgs,
		RunE: c.work(func(cmd *cobra.Command, _ []string) error {
			if path == "" {
				return usagef("--config is missing: which file holds the index template?")
			}
			if err := f.key.begin(); err != nil {
				return err
			}
			template, err := c.readTemplate(path, f.key.docMappingUID)
			if err != nil {
				return err
			}
			return c.withClient(cmd, f, func(ctx context.Context, client *rpc.Client) error {
				return c.createTemplate(ctx, f, client, template, overwrite)
			})
		}),
	}
	f.key.add(cmd)
	addConfigFlag(cmd, &path, "index template")
	cmd.Flags().BoolVar(&overwrite, "overwrite", false, "replace a template of this id")
	return cmd
}

func (c *command) createTemplate(ctx context.Context, f *clientFlags, client *rpc.Client, template *indexconfig.IndexTemplate, overwrite bool) error {
	if err := client.CreateIndexTemplate(f.key.call(ctx), template, overwrite); err != nil {
		return f.explainTemplate(ctx, err, fmt.Sprintf("create index template %q", template.TemplateID),
			fmt.Sprintf("`metastore template get %s` shows whether it exists", template.TemplateID))
	}
	if f.format == output.JSON {
		return json.NewEncoder(c.stdout).Encode(map[string]string{"template_id": template.TemplateID})
	}
	done := "created"
	if overwrite {
		done = "wrote"
	}
	return c.print("%s index template %s for %s%s", done, template.TemplateID, listOrNone(template.IndexIDPatterns), f.key.note())
}

// readTemplate reads and validates an index template. A doc mapping that has no UID gets a new one.
func (c *command) readTemplate(path string, newUID func() ulid.ULID) (*indexconfig.IndexTemplate, error) {
	text, err := c.readConfigFile(path, "index template")
	if err != nil {
		return nil, err
	}
	template, err := indexconfig.ParseIndexTemplate(text, newUID)
	if err == nil {
		err = template.Validate()
	}
	if err != nil {
		return nil, withHint(fmt.Errorf("index template %s: %w", path, err), "`metastore template create --help` shows a template")
	}
	return template, nil
}
