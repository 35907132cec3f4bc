package chaos

import (
	"fmt"
	"slices"
	"strings"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// The state of a store as lines, each of one whole document. Times that a server sets are 0 in them.

// metadata is the index metadata that a client expects.
func (x *index) metadata() (*metastore.IndexMetadata, error) {
	request, err := indexConfig(x.uid.IndexID)
	if err != nil {
		return nil, err
	}
	m := &metastore.IndexMetadata{IndexUID: x.uid, Config: request.Config, Checkpoint: metastore.IndexCheckpoint{}}
	if x.retention > 0 {
		m.Config.Retention = retention(x.retention)
	}
	for id, s := range x.sources {
		config := request.Sources[0]
		if id != ingestSource {
			if config, err = sourceConfig(id, s.pipelines); err != nil {
				return nil, err
			}
		}
		config.Enabled = !s.disabled
		m.Sources = append(m.Sources, config)
	}
	for id, partitions := range x.checkpoints {
		m.Checkpoint[id] = metastore.SourceCheckpoint{}
		for partition, records := range partitions {
			m.Checkpoint[id][partition] = position(records)
		}
	}
	return m, nil
}

func retention(days int) *indexconfig.RetentionPolicy {
	return &indexconfig.RetentionPolicy{Period: fmt.Sprintf("%d days", days), Schedule: "hourly"}
}

// settings describes what belongs to the index as a whole.
func (x *index) settings() (string, error) {
	m, err := x.metadata()
	if err != nil {
		return "", err
	}
	return metadataLine(m), nil
}

// metadataLine leaves out the order of sources, which a client does not know.
func metadataLine(m *metastore.IndexMetadata) string {
	ordered := *m
	ordered.CreateTimestamp = 0
	ordered.Sources = slices.SortedFunc(slices.Values(m.Sources), func(a, b *indexconfig.SourceConfig) int { return strings.Compare(a.SourceID, b.SourceID) })
	return m.IndexUID.String() + ": " + string(ordered.AppendJSON(nil))
}

// differs says how the metadata in an answer differs from what a client expects.
func (x *index) differs(answer *metastore.IndexMetadata) error {
	want, err := x.settings()
	if got := metadataLine(answer); err == nil && got != want {
		return wrong("answered %s, want %s", got, want)
	}
	return err
}

// contents describes the rest.
func (x *index) contents() []string {
	var lines []string
	for id, s := range x.splits {
		lines = append(lines, splitLine(x.uid, s.row(x.uid, id)))
	}
	for kind, splits := range x.parquet {
		kind := metastore.ParquetKind(kind)
		for id, state := range splits {
			metadata := parquetMetadata(kind, x.uid, id)
			lines = append(lines, parquetLine(x.uid, kind, metastore.ParquetSplitRow{State: state, Document: metadata.Document()}))
		}
	}
	for id, s := range x.shards {
		lines = append(lines, shardLine(s.whole(x.uid, id)))
	}
	for opstamp, query := range x.tasks {
		lines = append(lines, taskLine(metastore.DeleteTask{Opstamp: opstamp, Query: query}))
	}
	return lines
}

func (s split) row(uid metastore.IndexUID, id string) metastore.SplitRow {
	metadata := splitMetadata(id, s.docs)
	metadata.IndexUID, metadata.CreateTimestamp, metadata.DeleteOpstamp = uid, 0, s.opstamp
	return metastore.SplitRow{State: s.state, PublishTimestamp: metastore.Optional[int64]{Set: s.published}, Document: metadata.Document()}
}

func (s shard) whole(uid metastore.IndexUID, id string) metastore.Shard {
	whole := metastore.Shard{
		IndexUID: uid, SourceID: ingestSource, ShardID: id, IngesterID: "ingester", State: metastore.ShardOpen, Position: s.at(), DocMappingUID: docMappingOf(id),
		PublishToken: metastore.Optional[string]{Value: s.token, Set: s.token != ""},
	}
	if s.ended {
		whole.State = metastore.ShardClosed
	}
	return whole
}

// differs says how a shard in an answer differs from what a client expects.
func (s shard) differs(uid metastore.IndexUID, id string, answer metastore.Shard) error {
	answer.UpdateTimestamp = 0
	if want := s.whole(uid, id); answer != want {
		return wrong("answered shard %+v, want %+v", answer, want)
	}
	return nil
}

func splitLine(uid metastore.IndexUID, row metastore.SplitRow) string {
	return uid.String() + ": split " + string(row.AppendJSON(nil))
}

func parquetLine(uid metastore.IndexUID, kind metastore.ParquetKind, row metastore.ParquetSplitRow) string {
	return fmt.Sprintf("%s: %s split %s", uid, kind, row.AppendJSON(nil))
}

func shardLine(s metastore.Shard) string { return fmt.Sprintf("%s: shard %+v", s.IndexUID, s) }

func taskLine(task metastore.DeleteTask) string {
	return task.Query.IndexUID.String() + ": delete task " + string(task.AppendJSON(nil))
}

func templateLine(t *indexconfig.IndexTemplate) string {
	return "template " + string(t.AppendJSON(nil))
}
