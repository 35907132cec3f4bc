package file

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"holdfast/metastore"
	"holdfast/metastore/internal/losses"
	"holdfast/metastore/internal/strictjson"
)

// parquetMembers are the members of a snapshot that hold Parquet splits, by kind, as lists of the peer's stored
// splits ordered by id.
var parquetMembers = [...]string{metastore.MetricsSplits: "metrics_splits", metastore.SketchSplits: "sketch_splits"}

// writeParquetSplits writes the members of a snapshot that hold Parquet splits behind what the buffer holds, and returns
// the buffer with what is not written yet. A kind without splits has no member.
func writeParquetSplits(w io.Writer, buffer []byte, sets *parquetSets) ([]byte, error) {
	for kind, member := range parquetMembers {
		if sets[kind].len() == 0 {
			continue
		}
		separator := `,"` + member + `":[`
		var err error
		sets[kind].ascend("", func(split *metastore.ParquetSplit) bool {
			buffer = split.AppendJSON(append(buffer, separator...))
			separator = ","
			if len(buffer) >= snapshotPiece {
				_, err = w.Write(buffer)
				buffer = buffer[:0]
			}
			return err == nil
		})
		if err != nil {
			return buffer, err
		}
		buffer = append(buffer, ']')
	}
	return buffer, nil
}

// parquetSplits reads a member with Parquet splits.
func (d *snapshotDecoder) parquetSplits(set *parquetSet) error {
	return d.elements(func(text jsontext.Value) error {
		split, err := metastore.ParseParquetSplit(text)
		if err != nil {
			return err
		}
		if set.get(split.Metadata.SplitID) != nil {
			return fmt.Errorf("split %s is given twice", strictjson.Quote(split.Metadata.SplitID))
		}
		set.put(split)
		return d.lost.Compare(losses.ParquetSplit, text, split.AppendJSON)
	})
}

// checkParquetSplits checks that there is an index that Parquet splits can belong to.
func checkParquetSplits(s *indexState) error {
	if s.index == nil && s.parquet.len() > 0 {
		return errors.New("there are Parquet splits, but member index is missing")
	}
	return nil
}
