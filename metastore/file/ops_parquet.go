package file

import (
	"fmt"

	"holdfast/metastore"
	"holdfast/metastore/internal/strictjson"
)

// stageParquetOp inserts or replaces Parquet splits as Staged. One that is replaced keeps its create
// timestamp.
//
//	"stage_parquet":{"kind":"Metrics","splits":[<Parquet split metadata document>]}
type stageParquetOp struct {
	kind   metastore.ParquetKind
	splits []*metastore.ParquetSplitMetadata
}

func (stageParquetOp) name() string { return "stage_parquet" }

func (o stageParquetOp) append(dst []byte) []byte {
	dst = append(appendParquetKind(dst, o.kind), `,"splits":[`...)
	for i, split := range o.splits {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, split.Document()...)
	}
	return append(dst, `]}`...)
}

func readStageParquetOp(r *strictjson.Reader) (op, error) {
	var o stageParquetOp
	err := readParquetOp(r, &o.kind, []string{"splits"}, func(string) error {
		return r.Array(func(int) error {
			var text []byte
			if err := r.Raw(&text); err != nil {
				return err
			}
			metadata, err := metastore.ParseParquetSplitMetadata(text)
			o.splits = append(o.splits, &metadata)
			return err
		})
	})
	return o, err
}

func (o stageParquetOp) applyToIndex(s *indexState, time int64) error {
	set := &s.parquet[o.kind]
	for _, metadata := range o.splits {
		maturity, _ := metadata.MaturityTimestamp() // its range was checked
		split := &metastore.ParquetSplit{
			Metadata: metadata, State: metastore.Staged, UpdateTimestamp: time, CreateTimestamp: time, MaturityTimestamp: maturity,
		}
		if old := set.get(metadata.SplitID); old != nil {
			split.CreateTimestamp = old.CreateTimestamp
		}
		set.put(split)
	}
	return nil
}

// publishParquetOp publishes staged Parquet splits and marks replaced ones.
//
//	"publish_parquet":{"kind":"Metrics","staged":["id"],"replaced":["id"]}
type publishParquetOp struct {
	kind             metastore.ParquetKind
	staged, replaced []string
}

func (publishParquetOp) name() string { return "publish_parquet" }

func (o publishParquetOp) append(dst []byte) []byte {
	dst = strictjson.AppendStrings(append(appendParquetKind(dst, o.kind), `,"staged":`...), o.staged)
	dst = strictjson.AppendStrings(append(dst, `,"replaced":`...), o.replaced)
	return append(dst, '}')
}

func readPublishParquetOp(r *strictjson.Reader) (op, error) {
	var o publishParquetOp
	err := readParquetOp(r, &o.kind, []string{"staged", "replaced"}, func(key string) error {
		if key == "staged" {
			return strictjson.List(r, &o.staged, r.String)
		}
		return strictjson.List(r, &o.replaced, r.String)
	})
	return o, err
}

func (o publishParquetOp) applyToIndex(s *indexState, time int64) error {
	if err := s.moveParquet(o.name(), o.kind, o.staged, metastore.Published, time); err != nil {
		return err
	}
	return s.moveParquet(o.name(), o.kind, o.replaced, metastore.MarkedForDeletion, time)
}

// markParquetOp marks Parquet splits for deletion.
//
//	"mark_parquet":{"kind":"Metrics","split_ids":["id"]}
type markParquetOp parquetIDs

func (markParquetOp) name() string { return "mark_parquet" }

func (o markParquetOp) append(dst []byte) []byte { return parquetIDs(o).append(dst) }

func readMarkParquetOp(r *strictjson.Reader) (op, error) {
	ids, err := readParquetIDs(r)
	return markParquetOp(ids), err
}

func (o markParquetOp) applyToIndex(s *indexState, time int64) error {
	return s.moveParquet(o.name(), o.kind, o.ids, metastore.MarkedForDeletion, time)
}

// deleteParquetOp removes Parquet splits.
//
//	"delete_parquet":{"kind":"Metrics","split_ids":["id"]}
type deleteParquetOp parquetIDs

func (deleteParquetOp) name() string { return "delete_parquet" }

func (o deleteParquetOp) append(dst []byte) []byte { return parquetIDs(o).append(dst) }

func readDeleteParquetOp(r *strictjson.Reader) (op, error) {
	ids, err := readParquetIDs(r)
	return deleteParquetOp(ids), err
}

func (o deleteParquetOp) applyToIndex(s *indexState, _ int64) error {
	set := &s.parquet[o.kind]
	for _, id := range o.ids {
		if set.get(id) == nil {
			return noParquetSplit(o.name(), o.kind, id)
		}
		set.remove(id)
	}
	return nil
}

// parquetIDs name Parquet splits of one kind.
type parquetIDs struct {
	kind metastore.ParquetKind
	ids  []string
}

func (o parquetIDs) append(dst []byte) []byte {
	return append(strictjson.AppendStrings(append(appendParquetKind(dst, o.kind), `,"split_ids":`...), o.ids), '}')
}

func readParquetIDs(r *strictjson.Reader) (o parquetIDs, err error) {
	err = readParquetOp(r, &o.kind, []string{"split_ids"}, func(string) error { return strictjson.List(r, &o.ids, r.String) })
	return o, err
}

// appendParquetKind appends the first member of every operation on Parquet splits, and leaves the object open.
func appendParquetKind(dst []byte, kind metastore.ParquetKind) []byte {
	return strictjson.AppendString(append(dst, `{"kind":`...), kind.String())
}

// readParquetOp reads an object of the kind and other members, all required.
func readParquetOp(r *strictjson.Reader, kind *metastore.ParquetKind, others []string, read func(key string) error) error {
	keys := strictjson.Keys{{Name: "kind", Required: true}}
	for _, name := range others {
		keys = append(keys, strictjson.Key{Name: name, Required: true})
	}
	return r.Object(keys, strictjson.Reject, func(key string) error {
		if key == "kind" {
			return readParsed(r, kind, metastore.ParseParquetKind)
		}
		return read(key)
	})
}

func (s *indexState) moveParquet(operation string, kind metastore.ParquetKind, ids []string, to metastore.SplitState, time int64) error {
	set := &s.parquet[kind]
	for _, id := range ids {
		old := set.get(id)
		if old == nil {
			return noParquetSplit(operation, kind, id)
		}
		set.put(old.Moved(to, time))
	}
	return nil
}

func noParquetSplit(operation string, kind metastore.ParquetKind, id string) error {
	return fmt.Errorf("%s: there is no split %q of kind %s", operation, id, kind)
}
