package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/openstore"
	"holdfast/cmd/metastore/internal/output"
	"holdfast/cmd/metastore/internal/secrets"
	"holdfast/metastore/postgres"
)

const migrateHelp = `Check the schema of a PostgreSQL database and report what an operator should know. An empty
database gets the schema. A database that Quickwit made is checked and used as it is. The
command may run while servers, Quickwit's too, use the database.

Databases made by Quickwit have a hash index on splits.node_id, which makes staging slower
with each split of the same node. --replace-hash-index replaces it by a btree of the same
name without keeping anybody waiting. A run that was interrupted is completed by the next.

The password may come from PGPASSWORD instead of the URL.`

// migration is the report of migrate as JSON.
type migration struct {
	Database          string   `json:"database"`
	Created           bool     `json:"created"`
	SchemaVersion     int64    `json:"schema_version"`
	NodeIndex         dbIndex  `json:"node_index"`
	MaturityIndex     dbIndex  `json:"maturity_index"`
	ReplacedHashIndex bool     `json:"replaced_hash_index"`
	Collation         string   `json:"collation"`
	BytewiseCollation bool     `json:"bytewise_collation"`
	Notes             []string `json:"notes"`
}

type dbIndex struct {
	Name   string `json:"name"`
	Method string `json:"method"` // empty if the index does not exist
	Valid  bool   `json:"valid"`
}

func (c *command) migrate() *cobra.Command {
	store := ""
	format := output.Text
	options := postgres.MigrateOptions{}
	cmd := &cobra.Command{
		Use:   "migrate --store postgres://...",
		Short: "Create or check the schema of a PostgreSQL database",
		Long:  migrateHelp,
		Example: `  metastore migrate --store postgres://metastore@db/metastore
  metastore migrate --store postgres://metastore@db/metastore --replace-hash-index`,
		Args: cobra.NoArgs,
		RunE: c.work(func(cmd *cobra.Command, _ []string) error {
			if !openstore.IsPostgres(store) {
				return usagef("--store must be a postgres:// URL; directories and buckets need no migration")
			}
			c.stderr = secrets.NewWriter(c.stderr, secrets.Find(store))
			ctx, cancel := c.interruptible(cmd.Context())
			defer cancel()
			report, err := postgres.Migrate(ctx, store, options)
			if err != nil {
				if context.Cause(ctx) == errInterrupted {
					err = errInterrupted
				}
				return fmt.Errorf("migrate %s: %w", secrets.MaskURL(store), err)
			}
			return c.printMigration(report, store, format)
		}),
	}
	cmd.Flags().StringVar(&store, "store", "", "URL of the database (required)")
	cmd.Flags().BoolVar(&options.ReplaceHashIndex, "replace-hash-index", false, "replace the hash index on splits.node_id by a btree")
	cmd.Flags().Var(&format, "format", "how to write the result: text, or json for machines")
	return cmd
}

func (c *command) printMigration(report postgres.MigrateReport, store string, format output.Format) error {
	if format == output.JSON {
		notes := orEmpty(report.Notes)
		return json.NewEncoder(c.stdout).Encode(migration{
			report.Database, report.Created, report.SchemaVersion, dbIndex(report.NodeIndex), dbIndex(report.MaturityIndex),
			report.Replaced, report.Collation, report.BytewiseCollation, notes,
		})
	}
	did := "checked"
	if report.Created {
		did = "created"
	}
	for _, field := range [][2]string{
		{"Database", report.Database},
		{"Schema", fmt.Sprintf("%s, version %d", did, report.SchemaVersion)},
		{"Node index", describeDBIndex(report.NodeIndex, report.Replaced)},
		{"Maturity index", describeDBIndex(report.MaturityIndex, false)},
		{"Collation", report.Collation},
	} {
		if err := c.print("%-14s  %s", field[0], field[1]); err != nil {
			return err
		}
	}
	for _, note := range report.Notes {
		if err := c.print("\nnote:  %s", note); err != nil {
			return err
		}
	}
	if report.NodeIndex.Method != "btree" || !report.NodeIndex.Valid {
		return c.print("\nTo replace the node index, type:\n\n  metastore migrate --store '%s' --replace-hash-index", secrets.MaskURL(store))
	}
	return nil
}

func describeDBIndex(index postgres.IndexReport, replaced bool) string {
	switch {
	case index.Method == "":
		return index.Name + " is missing"
	case !index.Valid:
		return index.Name + " (" + index.Method + ") is INVALID"
	case replaced:
		return index.Name + " (" + index.Method + "), has replaced the hash index"
	default:
		return index.Name + " (" + index.Method + ")"
	}
}
