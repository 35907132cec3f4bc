package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

const sourceHelp = `List, describe, add, change and delete the sources of an index of a running metastore server.

A source says where the documents of an index come from, such as a Kafka topic. The metastore
keeps its config, and how far its documents are published: in a checkpoint, or in shards. The
sources that Quickwit itself adds to an index have ids that begin with "_", such as
_ingest-source.`

func (c *command) source() *cobra.Command {
	f := &splitFlags{}
	group := c.group("source", "List, describe, add, change and delete sources", sourceHelp,
		c.sourceList(f), c.sourceDescribe(f), c.sourceAdd(f), c.sourceUpdate(f), c.sourceToggle(f, true), c.sourceToggle(f, false),
		c.sourceDelete(f), c.sourceResetCheckpoint(f))
	f.add(group)
	group.PersistentFlags().StringVar(&f.index, "index", "", "id of the index, or its UID ID:ULID (required)")
	return group
}

// changeOfSource is what a change of a source prints as JSON.
type changeOfSource struct {
	IndexUID string `json:"index_uid"`
	SourceID string `json:"source_id"`
	Enabled  *bool  `json:"enabled,omitempty"`
}

// sourceFailed explains why a source was not changed. doing is a verb; again says what it means to repeat the command.
func (f *splitFlags) sourceFailed(ctx context.Context, err error, doing, sourceID, again string) error {
	what := fmt.Sprintf("%s source %q of index %q", doing, sourceID, f.index)
	describe := fmt.Sprintf("`metastore source describe --index %s %s`", f.index, sourceID)
	switch {
	case !isAbout(err, metastore.EntitySource):
		return f.explainChange(ctx, err, what, describe+" shows whether it was done; "+again)
	case metastore.AsError(err).Kind == metastore.KindAlreadyExists:
		return withHint(fmt.Errorf("%s: %w", what, err), "it was not touched; %s shows it, `metastore source update` replaces its config", describe)
	}
	return f.sourceMissing(err, what)
}

// sourceMissing explains that an index does not have a source.
func (f *splitFlags) sourceMissing(err error, doing string) error {
	return withHint(fmt.Errorf("%s: %w", doing, err), "`metastore source list --index %s` shows the sources of the index", f.index)
}

// progressOfSource says how much progress the metastore knows of.
func progressOfSource(index *metastore.IndexMetadata, source *indexconfig.SourceConfig) string {
	if source.UsesShards() {
		return "in shards"
	}
	if partitions := len(index.Checkpoint[source.SourceID]); partitions > 0 {
		return output.Plural(partitions, "partition")
	}
	return "none"
}

func yesOrNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
