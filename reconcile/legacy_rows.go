package reconcile

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"holdfast/metastore"
	"holdfast/reconcile/evidence"
	"holdfast/reconcile/lineage"
	"holdfast/reconcile/partition"
	"holdfast/reconcile/splitfile"
)

// fieldsBefore returns the fields that rows tell of, as far as the index is known before its files are.
func (w *indexWork) fieldsBefore() evidence.Fields {
	id := w.indexID
	if id == "" {
		id = w.name
	}
	w.indexConfig = w.config(id)
	if index := w.index(id); index != nil && index.Config != nil {
		w.indexConfig = index.Config
	}
	return evidence.FieldsOf(w.indexConfig)
}

// fillLegacy gives legacy objects the metadata that their content tells: reading again what was read
// before the fields were known.
func (w *indexWork) fillLegacy(ctx context.Context) error {
	if w.Lineage.Live {
		return nil
	}
	if w.indexConfig == nil {
		w.indexConfig = w.config(w.indexID)
	}
	w.fields = evidence.FieldsOf(w.indexConfig)
	var legacy []*splitObject
	for i := range w.objects {
		if w.objects[i].content == lineage.Legacy {
			legacy = append(legacy, &w.objects[i])
		}
	}
	if err := w.readEvidence(ctx, legacy); err != nil {
		return fmt.Errorf("read the split files: %w", err)
	}
	for _, object := range legacy {
		if object.evidence == nil {
			continue
		}
		// A row of an earlier run knows its partition.
		object.metadata = w.legacyRow(object, w.rows[object.id].metadata.PartitionID)
	}
	return nil
}

func (w *indexWork) legacyRow(object *splitObject, partitionID uint64) metastore.SplitMetadata {
	return object.evidence.Row(object.id, w.uid, uint64(object.Size), object.Modified.Unix(), partitionID)
}

// findPartitions computes the partitions of the legacy objects that are to be published, if the index has
// a partition key. It reads one block of each, if the limit allows it; without it the partition is 0.
func (w *indexWork) findPartitions(ctx context.Context) error {
	if w.indexConfig == nil || w.indexConfig.DocMapping.PartitionKey == nil {
		return nil
	}
	text := *w.indexConfig.DocMapping.PartitionKey
	key, err := partition.ParseKey(text)
	if err != nil || key.IsEmpty() {
		return nil // what the peer makes of it is not known
	}
	var objects []*splitObject
	var bytes int64
	for i := range w.plan.Decisions {
		d := &w.plan.Decisions[i]
		object := w.byID[d.ID]
		if d.Kind != lineage.Publish || d.Row != 0 || object.content != lineage.Legacy || object.evidence == nil || len(object.evidence.Blocks) == 0 {
			continue
		}
		if id, _, known := w.journal.place(object.version(w.place(object)), text); known {
			object.metadata = w.legacyRow(object, id)
			continue
		}
		objects, bytes = append(objects, object), bytes+int64(object.evidence.Blocks[0].Size)
	}
	if len(objects) == 0 || !w.mayRead(len(objects), bytes) {
		return nil
	}
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(w.Concurrency)
	for _, object := range objects {
		group.Go(func() error { return w.findPartition(reading, object, text, key) })
	}
	return group.Wait()
}

func (w *indexWork) findPartition(ctx context.Context, object *splitObject, text string, key partition.Key) error {
	var id uint64
	var exact bool
	err := w.patiently(ctx, object, func(file *splitfile.File) (err error) {
		id, exact, err = evidence.ReadPartition(ctx, file, key)
		return err
	}, func(stats ReadStats) { w.countContent(stats, int64(object.evidence.Blocks[0].Size)) })
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return nil // it stays 0, which concerns merges only
	}
	if !exact {
		id = 0
	}
	object.metadata = w.legacyRow(object, id)
	return w.journal.addPlace(object.version(w.place(object)), text, id, exact)
}

// countContent counts what reading documents of a file took.
func (w *indexWork) countContent(stats ReadStats, documents int64) {
	w.summary.Contents.Files++
	w.summary.Contents.Bytes += documents
	w.summary.Reads.Requests += stats.Requests
	w.summary.Reads.Bytes += stats.Bytes
	w.summary.Reads.Throttled += stats.Throttled
}
