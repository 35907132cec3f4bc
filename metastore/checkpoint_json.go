package metastore

import "holdfast/metastore/internal/strictjson"

// structCheckpointDelta is the peer's name of the document in requests.
const structCheckpointDelta = "quickwit_metastore::checkpoint::IndexCheckpointDelta"

var (
	checkpointDeltaKeys = strictjson.Keys{{Name: "source_id", Required: true}, {Name: "source_delta", Required: true}}
	sourceDeltaKeys     = strictjson.Keys{{Name: "per_partition", Required: true}}
	partitionDeltaKeys  = strictjson.Keys{{Name: "from", Required: true}, {Name: "to", Required: true}}
)

// ParseCheckpointDelta reads the document of a checkpoint delta:
//
//	{"source_id":"id","source_delta":{"per_partition":{"<partition id>":{"from":"<position>","to":"<position>"}}}}
//
// Unknown keys are ignored; of a repeated partition the last counts. What the delta says is not checked,
// see Validate. It fails with JsonDeserializeError.
func ParseCheckpointDelta(text []byte) (*CheckpointDelta, error) {
	d := new(CheckpointDelta)
	err := strictjson.Decode("", text, func(r *strictjson.Reader) error {
		return r.Object(checkpointDeltaKeys, strictjson.Ignore, func(key string) error {
			if key == "source_id" {
				return r.String(&d.SourceID)
			}
			return r.Object(sourceDeltaKeys, strictjson.Ignore, func(string) error { return d.readPartitions(r) })
		})
	})
	if err != nil {
		return nil, JSONDeserialize(structCheckpointDelta, err)
	}
	return d, nil
}

func (d *CheckpointDelta) readPartitions(r *strictjson.Reader) error {
	d.Partitions = map[string]PartitionDelta{}
	return r.Map(func(id string) error {
		var from, to string
		err := r.Object(partitionDeltaKeys, strictjson.Ignore, func(key string) error {
			if key == "from" {
				return r.String(&from)
			}
			return r.String(&to)
		})
		d.Partitions[id] = PartitionDelta{From: Position(from), To: Position(to)}
		return err
	})
}

// AppendJSON appends the document as the peer writes it, the partitions sorted by id.
func (d *CheckpointDelta) AppendJSON(dst []byte) []byte {
	dst = strictjson.AppendString(append(dst, `{"source_id":`...), d.SourceID)
	dst = append(dst, `,"source_delta":{"per_partition":`...)
	dst = appendSorted(dst, d.Partitions, func(dst []byte, partition PartitionDelta) []byte {
		dst = strictjson.AppendString(append(dst, `{"from":`...), string(partition.From))
		dst = strictjson.AppendString(append(dst, `,"to":`...), string(partition.To))
		return append(dst, '}')
	})
	return append(dst, "}}"...)
}
