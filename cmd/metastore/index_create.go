package main

import (
	"context"
	"fmt"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/rpc"
)

const indexCreateHelp = `Create an index from a config file in YAML or JSON, in the format of Quickwit's index
configs. The file must hold at least a version, an id, a URI and a doc mapping:

  version: 0.9
  index_id: web-access
  index_uri: s3://my-bucket/indexes/web-access
  doc_mapping:
    field_mappings:
      - {name: at, type: datetime, fast: true}
      - {name: body, type: text}
    timestamp_field: at

The URI is where the split files are. It is kept as text; nothing is read or written there.
An index whose id exists is not touched.

With --format json: the document of the new index.`

func (c *command) indexCreate(f *clientFlags) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:     "create --config FILE",
		Short:   "Create an index from a config file",
		Long:    indexCreateHelp,
		Example: "  metastore index create --config web-access.yaml",
		Args:    cobra.NoArgs,
		RunE: c.work(func(cmd *cobra.Command, _ []string) error {
			if path == "" {
				return usagef("--config is missing: which file holds the index config?")
			}
			if err := f.key.begin(); err != nil {
				return err
			}
			config, err := c.readIndexConfig(path, f.key.docMappingUID)
			if err != nil {
				return err
			}
			return c.withClient(cmd, f, func(ctx context.Context, client *rpc.Client) error {
				return c.createIndex(ctx, f, client, config)
			})
		}),
	}
	f.key.add(cmd)
	addConfigFlag(cmd, &path, "index config")
	return cmd
}

func (c *command) createIndex(ctx context.Context, f *clientFlags, client *rpc.Client, config *indexconfig.IndexConfig) error {
	index, err := client.CreateIndex(f.key.call(ctx), metastore.CreateIndexRequest{Config: config})
	if err != nil {
		doing := fmt.Sprintf("create index %q", config.IndexID)
		if isAbout(err, metastore.EntityIndex) {
			return withHint(fmt.Errorf("%s: %w", doing, err), "`metastore index describe %s` shows it; it was not touched", config.IndexID)
		}
		return f.explainChange(ctx, err, doing, fmt.Sprintf("`metastore index describe %s` shows whether it exists", config.IndexID))
	}
	if f.format == output.JSON {
		return c.printDocument(index)
	}
	return c.print("created index %s (UID %s)%s", index.IndexUID.IndexID, index.IndexUID, f.key.note())
}

// readIndexConfig reads the config of an index. A doc mapping that has no UID gets a new one.
func (c *command) readIndexConfig(path string, newUID func() ulid.ULID) (*indexconfig.IndexConfig, error) {
	text, err := c.readConfigFile(path, "index config")
	if err != nil {
		return nil, err
	}
	config, err := indexconfig.ParseIndexConfig(text, newUID)
	if err != nil {
		return nil, withHint(fmt.Errorf("index config %s: %w", path, err), "`metastore index create --help` shows a config")
	}
	return config, nil
}
