package file

import (
	"fmt"

	"holdfast/metastore"
	"holdfast/metastore/internal/strictjson"
)

// createOp begins an incarnation of the index.
//
//	"create":{"index":<index metadata document>}
type createOp struct{ index *metastore.IndexMetadata }

func (createOp) name() string { return "create" }

func (o createOp) append(dst []byte) []byte { return appendIndex(dst, o.index) }

func readCreateOp(r *strictjson.Reader) (op, error) {
	index, err := readIndex(r)
	return createOp{index}, err
}

func (o createOp) applyToIndex(s *indexState, _ int64) error {
	if s.index != nil {
		return fmt.Errorf("create: the index exists already as %s", s.index.IndexUID)
	}
	floor := s.floorOf(o.index.IndexUID)
	s.begin(o.index)
	s.deleteTasks.raised = floor
	return nil
}

// updateOp replaces the metadata of the index: its config, sources and checkpoint.
//
//	"update":{"index":<index metadata document>}
type updateOp struct{ index *metastore.IndexMetadata }

func (updateOp) name() string { return "update" }

func (o updateOp) append(dst []byte) []byte { return appendIndex(dst, o.index) }

func readUpdateOp(r *strictjson.Reader) (op, error) {
	index, err := readIndex(r)
	return updateOp{index}, err
}

func (o updateOp) applyToIndex(s *indexState, _ int64) error {
	if o.index.IndexUID != s.index.IndexUID {
		return fmt.Errorf("update: the index is %s, not %s", s.index.IndexUID, o.index.IndexUID)
	}
	s.index = o.index
	return nil
}

// dropOp ends an incarnation of the index.
//
//	"drop":{"index_uid":"<index id>:<ULID>"}
type dropOp struct{ indexUID metastore.IndexUID }

func (dropOp) name() string { return "drop" }

func (o dropOp) append(dst []byte) []byte {
	return append(strictjson.AppendString(append(dst, `{"index_uid":`...), o.indexUID.String()), '}')
}

func readDropOp(r *strictjson.Reader) (op, error) {
	var o dropOp
	err := readMember(r, "index_uid", func() error { return readParsed(r, &o.indexUID, metastore.ParseIndexUID) })
	return o, err
}

func (o dropOp) applyToIndex(s *indexState, _ int64) error {
	if o.indexUID != s.index.IndexUID {
		return fmt.Errorf("drop: the index is %s, not %s", s.index.IndexUID, o.indexUID)
	}
	floor := s.deleteTasks.floor()
	s.begin(nil)
	s.dropped, s.deleteTasks.raised = o.indexUID, floor
	return nil
}

// fenceOp changes nothing. It takes a version, so that a writer that decided before it loses.
//
//	"fence":{}
type fenceOp struct{}

func (fenceOp) name() string { return "fence" }

func (fenceOp) append(dst []byte) []byte { return append(dst, "{}"...) }

func readFenceOp(r *strictjson.Reader) (op, error) {
	return fenceOp{}, r.Object(nil, strictjson.Reject, nil)
}

func (fenceOp) applyToIndex(*indexState, int64) error { return nil }

func (fenceOp) applyToRoot(*rootState) error { return nil }

func appendIndex(dst []byte, index *metastore.IndexMetadata) []byte {
	return append(index.AppendJSON(append(dst, `{"index":`...)), '}')
}

func readIndex(r *strictjson.Reader) (index *metastore.IndexMetadata, err error) {
	err = readMember(r, "index", func() error {
		var text []byte
		if err := r.Raw(&text); err != nil {
			return err
		}
		index, err = metastore.ParseIndexMetadata(text)
		return err
	})
	return index, err
}
