package file

import (
	"fmt"

	"holdfast/metastore"
	"holdfast/metastore/internal/strictjson"
)

// stageOp inserts or replaces splits as Staged.
//
//	"stage":{"splits":[<split metadata document>]}
type stageOp []metastore.SplitMetadata

func (stageOp) name() string { return "stage" }

func (o stageOp) append(dst []byte) []byte {
	dst = append(dst, `{"splits":[`...)
	for i := range o {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, o[i].Document()...)
	}
	return append(dst, `]}`...)
}

func readStageOp(r *strictjson.Reader) (op, error) {
	o := stageOp{}
	err := readMember(r, "splits", func() error {
		return r.Array(func(int) error {
			var text []byte
			if err := r.Raw(&text); err != nil {
				return err
			}
			metadata, err := metastore.ParseSplitMetadata(text)
			o = append(o, metadata)
			return err
		})
	})
	return o, err
}

func (o stageOp) applyToIndex(s *indexState, time int64) error {
	for i := range o {
		s.splits.put(newSplitRecord(&metastore.Split{State: metastore.Staged, UpdateTimestamp: time, Metadata: o[i]}))
	}
	return nil
}

// publishOp publishes staged splits and marks replaced ones.
//
//	"publish":{"staged":["id"],"replaced":["id"]}
type publishOp struct {
	staged, replaced []string
}

func (publishOp) name() string { return "publish" }

func (o publishOp) append(dst []byte) []byte {
	dst = strictjson.AppendStrings(append(dst, `{"staged":`...), o.staged)
	dst = strictjson.AppendStrings(append(dst, `,"replaced":`...), o.replaced)
	return append(dst, '}')
}

var publishKeys = strictjson.Keys{{Name: "staged", Required: true}, {Name: "replaced", Required: true}}

func readPublishOp(r *strictjson.Reader) (op, error) {
	var o publishOp
	err := r.Object(publishKeys, strictjson.Reject, func(key string) error {
		if key == "staged" {
			return strictjson.List(r, &o.staged, r.String)
		}
		return strictjson.List(r, &o.replaced, r.String)
	})
	return o, err
}

func (o publishOp) applyToIndex(s *indexState, time int64) error {
	if err := s.move(o.name(), o.staged, metastore.Published, time); err != nil {
		return err
	}
	return s.move(o.name(), o.replaced, metastore.MarkedForDeletion, time)
}

// markOp marks splits for deletion.
//
//	"mark":{"split_ids":["id"]}
type markOp []string

func (markOp) name() string { return "mark" }

func (o markOp) append(dst []byte) []byte { return appendSplitIDs(dst, o) }

func readMarkOp(r *strictjson.Reader) (op, error) {
	ids, err := readSplitIDs(r)
	return markOp(ids), err
}

func (o markOp) applyToIndex(s *indexState, time int64) error {
	return s.move(o.name(), o, metastore.MarkedForDeletion, time)
}

// deleteOp removes splits.
//
//	"delete":{"split_ids":["id"]}
type deleteOp []string

func (deleteOp) name() string { return "delete" }

func (o deleteOp) append(dst []byte) []byte { return appendSplitIDs(dst, o) }

func readDeleteOp(r *strictjson.Reader) (op, error) {
	ids, err := readSplitIDs(r)
	return deleteOp(ids), err
}

func (o deleteOp) applyToIndex(s *indexState, _ int64) error {
	for _, id := range o {
		old := s.splits.get(id)
		if old == nil {
			return fmt.Errorf("delete: there is no split %q", id)
		}
		s.splits.remove(old)
	}
	return nil
}

func appendSplitIDs(dst []byte, ids []string) []byte {
	return append(strictjson.AppendStrings(append(dst, `{"split_ids":`...), ids), '}')
}

func readSplitIDs(r *strictjson.Reader) (ids []string, err error) {
	err = readMember(r, "split_ids", func() error { return strictjson.List(r, &ids, r.String) })
	return ids, err
}
