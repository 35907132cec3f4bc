package chaos

import (
	"context"
	"fmt"
	"slices"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// observed is the whole state of a store, in the lines of expected.
func observed(ctx context.Context, store metastore.Store) ([]string, error) {
	patterns, err := indexconfig.ParseIndexIDPatterns([]string{"*"})
	if err != nil {
		return nil, err
	}
	indexes, err := store.ListIndexesMetadata(ctx, patterns)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, metadata := range indexes {
		x, err := observedIndex(ctx, store, metadata)
		if err != nil {
			return nil, fmt.Errorf("observe %s: %w", metadata.IndexUID, err)
		}
		lines = append(append(lines, x.settings()...), x.contents()...)
	}
	templates, err := store.ListIndexTemplates(ctx)
	if err != nil {
		return nil, err
	}
	for _, template := range templates {
		lines = append(lines, templateLine(template.TemplateID, template.Priority))
	}
	slices.Sort(lines)
	return lines, nil
}

func observedIndex(ctx context.Context, store metastore.Store, metadata *metastore.IndexMetadata) (*index, error) {
	x := newIndex(metadata.IndexUID)
	if policy := metadata.Config.Retention; policy != nil {
		if _, err := fmt.Sscanf(policy.Period, "%d days", &x.retention); err != nil {
			return nil, fmt.Errorf("retention period %q: %w", policy.Period, err)
		}
	}
	for _, s := range metadata.Sources {
		x.sources[s.SourceID] = source{pipelines: s.NumPipelines, disabled: !s.Enabled}
	}
	for id, partitions := range metadata.Checkpoint {
		for partition, at := range partitions {
			records, err := recordsAt(at)
			if err != nil || id != queueSource {
				return nil, fmt.Errorf("checkpoint of source %s: position %q: %w", id, at, err)
			}
			x.partitions[partition] = records
		}
	}
	err := store.ListSplits(ctx, metastore.AllSplits(x.uid), func(row *metastore.SplitRow) error {
		found, err := row.Split()
		x.splits[found.Metadata.SplitID] = split{found.State, found.Metadata.NumDocs, found.Metadata.DeleteOpstamp}
		return err
	})
	if err != nil {
		return nil, err
	}
	for kind := range x.parquet {
		err := store.ListParquetSplits(ctx, metastore.ParquetKind(kind), &metastore.ListParquetSplitsQuery{IndexUID: x.uid}, func(row *metastore.ParquetSplitRow) error {
			found, err := row.Metadata()
			x.parquet[kind][found.SplitID] = row.State
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	lists, err := store.ListShards(ctx, []metastore.ListShardsSubrequest{{IndexUID: x.uid, SourceID: ingestSource}})
	if err != nil {
		return nil, err
	}
	for _, found := range lists[0] {
		records, err := recordsAt(found.Position)
		if err != nil {
			return nil, err
		}
		x.shards[found.ShardID] = shard{found.PublishToken.Value, records}
	}
	tasks, err := store.ListDeleteTasks(ctx, x.uid, 0)
	for _, task := range tasks {
		x.tasks[task.Opstamp] = task.Query.QueryAST
	}
	return x, err
}

func recordsAt(at metastore.Position) (records int, err error) {
	if at == metastore.Beginning {
		return 0, nil
	}
	_, err = fmt.Sscanf(string(at), "%020d", &records)
	return records, err
}
