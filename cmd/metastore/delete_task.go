package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore"
	"holdfast/metastore/rpc"
)

// maxQueryFile bounds a file with a query, in bytes.
const maxQueryFile = 1 << 20

const deleteTaskHelp = `Create and list the delete tasks of an index of a running metastore server.

A delete task is an order to delete the documents that match a query. The janitor of a Quickwit
cluster carries it out: it writes mature splits anew without these documents. Tasks of an
index are numbered by opstamps. A split holds the opstamp of the last task that was applied to
it, which ` + "`metastore split list`" + ` shows.`

const deleteTaskCreateHelp = `Create a delete task. Documents that match the query, and are from the time range if one is given,
will be deleted for good, and a task cannot be taken back. Nothing happens at once: the
janitor of the cluster applies the task to one split after the other.

The query is a query AST in JSON, an object with a "type", which is what Quickwit makes of a
query before it runs it:

  {"type": "term", "field": "tenant", "value": "42"}
  {"type": "match_all"}

With --query @FILE it is read from a file, with --query @- from stdin. The metastore keeps it as
it is. It cannot tell whether the janitor understands it; what is no object with a "type" is
refused here, because a janitor fails on it. The time range counts by the timestamp field of
the index.

With --format json: the document of the new task.`

func (c *command) deleteTask() *cobra.Command {
	f := &splitFlags{}
	group := c.group("delete-task", "Create and list delete tasks", deleteTaskHelp, c.deleteTaskCreate(f), c.deleteTaskList(f))
	f.add(group)
	group.PersistentFlags().StringVar(&f.index, "index", "", "id of the index, or its UID ID:ULID (required)")
	return group
}

func (c *command) deleteTaskCreate(f *splitFlags) *cobra.Command {
	var query string
	var start, end timeFlag
	cmd := &cobra.Command{
		Use:   "create --index ID --query JSON|@FILE [--start TIME] [--end TIME]",
		Short: "Order the deletion of the documents that match a query",
		Long:  deleteTaskCreateHelp,
		Example: `  metastore delete-task create --index web-access --query '{"type":"term","field":"tenant","value":"42"}'
  metastore delete-task create --index web-access --query @query.json --start 2026-08-01 --end 2026-09-01`,
		Args: cobra.NoArgs,
		RunE: c.work(func(cmd *cobra.Command, _ []string) error {
			if err := f.validate(); err != nil {
				return err
			}
			if start.at.Set && end.at.Set && start.at.Value >= end.at.Value {
				return usagef("--start is %s, which is not before --end %s: no document would be deleted", output.Seconds(start.at.Value), output.Seconds(end.at.Value))
			}
			ast, err := c.readQuery(query)
			if err != nil {
				return err
			}
			request := metastore.DeleteQuery{StartTimestamp: start.at, EndTimestamp: end.at, QueryAST: ast}
			return c.withClient(cmd, &f.clientFlags, func(ctx context.Context, client *rpc.Client) error {
				return c.createDeleteTask(ctx, f, client, request)
			})
		}),
	}
	f.key.add(cmd)
	cmd.Flags().StringVar(&query, "query", "", "query AST in JSON, or @FILE to read it (required)")
	cmd.Flags().Var(&start, "start", "only documents from this time on, like 2026-11-30T14:46:30Z, 2026-11-30 or\nUnix seconds")
	cmd.Flags().Var(&end, "end", "only documents from before this time")
	return cmd
}

// readQuery reads the flag --query, and checks the form of what it holds.
func (c *command) readQuery(text string) (string, error) {
	if text == "" {
		return "", usagef("--query is missing: which documents?")
	}
	if path, isFile := strings.CutPrefix(text, "@"); isFile {
		content, err := c.readFile(path, maxQueryFile)
		if err != nil {
			return "", fmt.Errorf("read query: %w", err)
		}
		text = strings.TrimSpace(string(content))
	}
	var query struct {
		Type *string `json:"type"`
	}
	if err := json.Unmarshal([]byte(text), &query); err != nil || query.Type == nil {
		if err == nil {
			err = errors.New(`it has no "type"`)
		}
		return "", usagef(`--query is no query AST, must be an object such as {"type":"term","field":"tenant","value":"42"}: %w`, err)
	}
	return text, nil
}

func (c *command) createDeleteTask(ctx context.Context, f *splitFlags, client *rpc.Client, query metastore.DeleteQuery) (err error) {
	if query.IndexUID, err = f.beginChange(ctx, client); err != nil {
		return err
	}
	task, err := client.CreateDeleteTask(f.key.call(ctx), query)
	if err != nil {
		return f.explainChange(ctx, err, fmt.Sprintf("create a delete task of index %q", f.index),
			fmt.Sprintf("`metastore delete-task list --index %s` shows whether it exists; repeating the command may create a second one", f.index))
	}
	if f.format == output.JSON {
		return c.print("%s", task.AppendJSON(nil))
	}
	return c.print("index %s: created delete task with opstamp %d%s", query.IndexUID.IndexID, task.Opstamp, f.key.note())
}

func (c *command) deleteTaskList(f *splitFlags) *cobra.Command {
	var after uint64
	cmd := &cobra.Command{
		Use:   "list --index ID [--after OPSTAMP]",
		Short: "List the delete tasks of an index",
		Long: `List the delete tasks of an index in the order of their opstamps.

With --format json: an array of the task documents.`,
		Example: `  metastore delete-task list --index web-access
  metastore delete-task list --index web-access --after 12 --format json`,
		Args: cobra.NoArgs,
		RunE: c.work(func(cmd *cobra.Command, _ []string) error {
			if err := f.validate(); err != nil {
				return err
			}
			return c.withClient(cmd, &f.clientFlags, func(ctx context.Context, client *rpc.Client) error {
				return c.listDeleteTasks(ctx, f, client, after)
			})
		}),
	}
	cmd.Flags().Uint64Var(&after, "after", 0, "only tasks with a higher opstamp than this one")
	return cmd
}

func (c *command) listDeleteTasks(ctx context.Context, f *splitFlags, client *rpc.Client, after uint64) error {
	index, err := f.lookUp(ctx, client, f.index)
	if err != nil {
		return err
	}
	tasks, err := client.ListDeleteTasks(ctx, index.IndexUID, after)
	if err != nil {
		return f.explain(ctx, err, fmt.Sprintf("list delete tasks of index %q", f.index))
	}
	if f.format == output.JSON {
		array := output.NewArray(c.stdout)
		for i := range tasks {
			if err := array.Element(tasks[i].AppendJSON(nil)); err != nil {
				return err
			}
		}
		return array.Close()
	}
	seconds := func(at metastore.Optional[int64]) string {
		if !at.Set {
			return ""
		}
		return output.Seconds(at.Value)
	}
	table := output.NewTable(c.stdout, ">OPSTAMP", "CREATED (UTC)", "FROM (UTC)", "BEFORE (UTC)", "QUERY")
	for i := range tasks {
		task := &tasks[i]
		if err := table.Row(
			output.Count(task.Opstamp), output.Seconds(task.CreateTimestamp), seconds(task.Query.StartTimestamp), seconds(task.Query.EndTimestamp), task.Query.QueryAST,
		); err != nil {
			return err
		}
	}
	if err := table.Close(); err != nil {
		return err
	}
	return c.print("%s", output.Plural(len(tasks), "delete task"))
}
