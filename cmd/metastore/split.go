package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// splitFlags are the flags of commands on the splits of one index.
type splitFlags struct {
	clientFlags
	index string
}

func (c *command) split() *cobra.Command {
	f := &splitFlags{}
	group := c.group("split", "List, stage, publish, mark, delete and inspect splits",
		"List, stage, publish, mark and delete the splits of an index of a running metastore server, or\ninspect a split file.",
		c.splitList(f), c.splitStage(f), c.splitPublish(f), c.splitMark(f), c.splitDelete(f), c.splitInspect(f))
	f.add(group)
	group.PersistentFlags().StringVar(&f.index, "index", "", "id of the index, or its UID ID:ULID (required)")
	return group
}

func (f *splitFlags) validate() error {
	if f.index == "" {
		return usagef("--index is missing: which index?")
	}
	return nil
}

// howToCheck says how to find out whether a change was made.
func (f *splitFlags) howToCheck(again string) string {
	return fmt.Sprintf("`metastore split list --index %s` shows the states; %s", f.index, again)
}
