package chaos

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// observer reads the state of a store, and checks the times in it.
type observer struct {
	store metastore.Store
	// from and to are when the first call was made, and when the last one was answered, in seconds.
	from, to int64
	// stageTime is set if splits have the time at which they were staged as that of their creation, and else that of their document.
	stageTime bool
}

// observed is the whole state of a store, in the lines of expected.
func observed(ctx context.Context, store metastore.Store, began time.Time, stageTime bool) ([]string, error) {
	o := &observer{store, began.Unix(), time.Now().Unix(), stageTime}
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
		contents, err := o.index(ctx, metadata)
		if err != nil {
			return nil, fmt.Errorf("observe %s: %w", metadata.IndexUID, err)
		}
		lines = append(append(lines, metadataLine(metadata)), contents...)
	}
	templates, err := store.ListIndexTemplates(ctx)
	if err != nil {
		return nil, err
	}
	for _, template := range templates {
		lines = append(lines, templateLine(template))
	}
	slices.Sort(lines)
	return lines, nil
}

// during fails unless times are within the run, none before the one in front of it.
func (o *observer) during(of string, times ...int64) error {
	last := o.from
	for _, at := range times {
		if at < last || at > o.to {
			return fmt.Errorf("%s: the times %d are not one after the other from %d to %d", of, times, o.from, o.to)
		}
		last = at
	}
	return nil
}

func (o *observer) index(ctx context.Context, metadata *metastore.IndexMetadata) ([]string, error) {
	uid := metadata.IndexUID
	if err := o.during("the index", metadata.CreateTimestamp); err != nil {
		return nil, err
	}
	lines, err := o.splits(ctx, uid)
	if err != nil {
		return nil, err
	}
	for _, kind := range []metastore.ParquetKind{metastore.MetricsSplits, metastore.SketchSplits} {
		err := o.store.ListParquetSplits(ctx, kind, &metastore.ListParquetSplitsQuery{IndexUID: uid}, func(row *metastore.ParquetSplitRow) error {
			err := o.during(row.Document, row.UpdateTimestamp)
			lines = append(lines, parquetLine(uid, kind, metastore.ParquetSplitRow{State: row.State, Document: row.Document}))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	lists, err := o.store.ListShards(ctx, []metastore.ListShardsSubrequest{{IndexUID: uid, SourceID: ingestSource}, {IndexUID: uid, SourceID: queueSource}})
	if err != nil {
		return nil, err
	}
	for _, found := range slices.Concat(lists...) {
		if err := o.during("shard "+found.ShardID, found.UpdateTimestamp); err != nil {
			return nil, err
		}
		found.UpdateTimestamp = 0
		lines = append(lines, shardLine(found))
	}
	tasks, err := o.store.ListDeleteTasks(ctx, uid, 0)
	if err != nil {
		return nil, err
	}
	for _, task := range tasks {
		if err := o.during(fmt.Sprint("delete task ", task.Opstamp), task.CreateTimestamp); err != nil {
			return nil, err
		}
		task.CreateTimestamp = 0
		lines = append(lines, taskLine(task))
	}
	return lines, nil
}

func (o *observer) splits(ctx context.Context, uid metastore.IndexUID) (lines []string, err error) {
	err = o.store.ListSplits(ctx, metastore.AllSplits(uid), func(row *metastore.SplitRow) error {
		found, err := row.Split()
		if err != nil {
			return err
		}
		times := []int64{row.UpdateTimestamp}
		if row.PublishTimestamp.Set {
			times = []int64{row.PublishTimestamp.Value, row.UpdateTimestamp}
		}
		created := found.Metadata.CreateTimestamp
		if o.stageTime {
			times = append([]int64{created}, times...)
		} else if created != payloadCreated {
			return fmt.Errorf("split %s is of %d, want %d", found.Metadata.SplitID, created, payloadCreated)
		}
		document := strings.Replace(row.Document, fmt.Sprintf(`"create_timestamp":%d,`, created), `"create_timestamp":0,`, 1)
		lines = append(lines, splitLine(uid, metastore.SplitRow{State: row.State, PublishTimestamp: metastore.Optional[int64]{Set: row.PublishTimestamp.Set}, Document: document}))
		return o.during("split "+found.Metadata.SplitID, times...)
	})
	return lines, err
}
