package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/rpc"
)

const templateHelp = `Create, show, list, delete and try the index templates of a running metastore server.

An index template says which config an index gets that Quickwit creates by itself, because
documents arrive for an id that no index has.`

func (c *command) template() *cobra.Command {
	f := &clientFlags{}
	group := c.group("template", "Create, show, list, delete and try index templates", templateHelp,
		c.templateCreate(f), c.templateGet(f), c.templateList(f), c.templateDelete(f), c.templateMatch(f))
	f.add(group)
	return group
}

// explainTemplate explains the failure of a change of a template.
func (f *clientFlags) explainTemplate(ctx context.Context, err error, doing, check string) error {
	switch {
	case !isAbout(err, metastore.EntityIndexTemplate):
		return f.explainChange(ctx, err, doing, check)
	case metastore.AsError(err).Kind == metastore.KindAlreadyExists:
		return withHint(fmt.Errorf("%s: %w", doing, err), "it was not touched; --overwrite replaces it")
	}
	return fmt.Errorf("%s: %w", doing, err)
}

func (c *command) templateGet(f *clientFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "get TEMPLATE",
		Short: "Show one index template",
		Long: `Print the document of an index template in JSON, which is what ` + "`metastore template create`" + ` takes.

With --format json it is in one line.`,
		Example: `  metastore template get web
  metastore template get web > web.json && metastore template create --config web.json --overwrite`,
		Args: oneArgument("TEMPLATE", "which index template?"),
		RunE: c.work(func(cmd *cobra.Command, args []string) error {
			return c.withClient(cmd, f, func(ctx context.Context, client *rpc.Client) error {
				template, err := client.IndexTemplate(ctx, args[0])
				doing := fmt.Sprintf("get index template %q", args[0])
				if isAbout(err, metastore.EntityIndexTemplate) {
					return withHint(fmt.Errorf("%s: %w", doing, err), "`metastore template list` shows the templates")
				}
				if err != nil {
					return f.explain(ctx, err, doing)
				}
				return c.printTemplate(f, template)
			})
		}),
	}
}

func (c *command) printTemplate(f *clientFlags, template *indexconfig.IndexTemplate) error {
	document := template.AppendJSON(nil)
	if f.format == output.JSON {
		return c.print("%s", document)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, document, "", "  "); err != nil {
		return err
	}
	// What could control the terminal is escaped, and means the same then.
	var text strings.Builder
	for _, r := range indented.String() {
		if r == '\n' || unicode.IsGraphic(r) {
			text.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&text, `\u%04x`, unit)
		}
	}
	return c.print("%s", text.String())
}

func (c *command) templateList(f *clientFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the index templates",
		Long: `List the index templates in the order of their ids.

With --format json: an array of the template documents.`,
		Example: `  metastore template list
  metastore template list --format json`,
		Args: cobra.NoArgs,
		RunE: c.work(func(cmd *cobra.Command, _ []string) error {
			return c.withClient(cmd, f, func(ctx context.Context, client *rpc.Client) error {
				templates, err := client.ListIndexTemplates(ctx)
				if err != nil {
					return f.explain(ctx, err, "list index templates")
				}
				return c.printTemplates(f, templates)
			})
		}),
	}
}

func (c *command) printTemplates(f *clientFlags, templates []*indexconfig.IndexTemplate) error {
	if f.format == output.JSON {
		return output.WriteArray(c.stdout, templates)
	}
	table := output.NewTable(c.stdout, "TEMPLATE", ">PRIORITY", "INDEX ID PATTERNS", "INDEX ROOT URI", "DESCRIPTION")
	for _, template := range templates {
		text := func(optional *string) string {
			if optional == nil {
				return ""
			}
			return *optional
		}
		if err := table.Row(
			template.TemplateID, output.Count(template.Priority), listOrNone(template.IndexIDPatterns), text(template.IndexRootURI), text(template.Description),
		); err != nil {
			return err
		}
	}
	if err := table.Close(); err != nil {
		return err
	}
	return c.print("%s", output.Plural(len(templates), "index template"))
}

func (c *command) templateDelete(f *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete TEMPLATE...",
		Short: "Delete index templates",
		Long: `Delete index templates. Indexes that were created by them stay as they are. Ids that no template has
are left alone.

With --format json: {"deleted": [ID]}, the ids as given.`,
		Example: "  metastore template delete web",
		RunE: c.work(func(cmd *cobra.Command, ids []string) error {
			if len(ids) == 0 {
				return usagef("no template id is given: which index templates?")
			}
			if err := f.key.begin(); err != nil {
				return err
			}
			return c.withClient(cmd, f, func(ctx context.Context, client *rpc.Client) error {
				if err := client.DeleteIndexTemplates(f.key.call(ctx), ids); err != nil {
					return f.explainTemplate(ctx, err, "delete index templates", "`metastore template list` shows the templates; repeating the command is safe")
				}
				if f.format == output.JSON {
					return json.NewEncoder(c.stdout).Encode(map[string][]string{"deleted": ids})
				}
				return c.print("%s deleted; ids that no template has are ignored%s", output.Plural(len(ids), "index template"), f.key.note())
			})
		}),
	}
	f.key.add(cmd)
	return cmd
}
