package file

import (
	"maps"
	"slices"

	"holdfast/metastore"
	"holdfast/metastore/internal/strictjson"
)

// checkpointOp sets positions in the checkpoint of a source, which need not have any yet.
//
//	"checkpoint":{"source_id":"id","positions":[{"partition_id":"id","position":"<position>"}]}
type checkpointOp struct {
	sourceID  string
	positions map[string]metastore.Position
}

func (checkpointOp) name() string { return "checkpoint" }

func (o checkpointOp) append(dst []byte) []byte {
	dst = strictjson.AppendString(append(dst, `{"source_id":`...), o.sourceID)
	dst = append(dst, `,"positions":[`...)
	for i, id := range slices.Sorted(maps.Keys(o.positions)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strictjson.AppendString(append(dst, `{"partition_id":`...), id)
		dst = append(strictjson.AppendString(append(dst, `,"position":`...), string(o.positions[id])), '}')
	}
	return append(dst, `]}`...)
}

var (
	checkpointKeys        = strictjson.Keys{{Name: "source_id", Required: true}, {Name: "positions", Required: true}}
	partitionPositionKeys = strictjson.Keys{{Name: "partition_id", Required: true}, {Name: "position", Required: true}}
)

func readCheckpointOp(r *strictjson.Reader) (op, error) {
	o := checkpointOp{positions: map[string]metastore.Position{}}
	err := r.Object(checkpointKeys, strictjson.Reject, func(key string) error {
		if key == "source_id" {
			return r.String(&o.sourceID)
		}
		return r.Array(func(int) error {
			var id, position string
			err := r.Object(partitionPositionKeys, strictjson.Reject, func(key string) error {
				if key == "partition_id" {
					return r.String(&id)
				}
				return r.String(&position)
			})
			o.positions[id] = metastore.Position(position)
			return err
		})
	})
	return o, err
}

func (o checkpointOp) applyToIndex(s *indexState, _ int64) error {
	s.index = s.index.WithPositions(o.sourceID, o.positions)
	return nil
}
