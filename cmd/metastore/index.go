package main

import "github.com/spf13/cobra"

func (c *command) index() *cobra.Command {
	f := &clientFlags{}
	group := c.group("index", "List, describe, create and delete indexes",
		"List, describe, create and delete the indexes of a running metastore server.",
		c.indexList(f), c.indexDescribe(f), c.indexCreate(f), c.indexDelete(f))
	f.add(group)
	return group
}
