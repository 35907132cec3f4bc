package file

import (
	"fmt"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"holdfast/metastore/internal/strictjson"
)

// rootIndex is an index id in the root log. The generation is drawn anew whenever the id is added.
//
//	{"index_id":"id","generation":"<ULID>"}
type rootIndex struct {
	indexID    string
	generation ulid.ULID
}

func (i rootIndex) append(dst []byte) []byte {
	dst = strictjson.AppendString(append(dst, `{"index_id":`...), i.indexID)
	dst = strictjson.AppendString(append(dst, `,"generation":`...), i.generation.String())
	return append(dst, '}')
}

var rootIndexKeys = strictjson.Keys{{Name: "index_id", Required: true}, {Name: "generation", Required: true}}

func readRootIndex(r *strictjson.Reader) (i rootIndex, err error) {
	err = r.Object(rootIndexKeys, strictjson.Reject, func(key string) error {
		if key == "index_id" {
			return r.String(&i.indexID)
		}
		return readParsed(r, &i.generation, ulid.ParseStrict)
	})
	return i, err
}

// addIndexOp adds an index id to the set of indexes.
//
//	"add_index":{"index_id":"id","generation":"<ULID>"}
type addIndexOp struct{ rootIndex }

func (addIndexOp) name() string { return "add_index" }

func readAddIndexOp(r *strictjson.Reader) (op, error) {
	index, err := readRootIndex(r)
	return addIndexOp{index}, err
}

func (o addIndexOp) applyToRoot(s *rootState) error {
	s.indexes.Set(o.indexID, o.generation)
	return nil
}

// removeIndexOp takes an index id out of the set of indexes.
//
//	"remove_index":{"index_id":"id","generation":"<ULID>"}
type removeIndexOp struct{ rootIndex }

func (removeIndexOp) name() string { return "remove_index" }

func readRemoveIndexOp(r *strictjson.Reader) (op, error) {
	index, err := readRootIndex(r)
	return removeIndexOp{index}, err
}

func (o removeIndexOp) applyToRoot(s *rootState) error {
	if generation, ok := s.indexes.Get(o.indexID); !ok || generation != o.generation {
		return fmt.Errorf("remove_index: index id %q has another generation", o.indexID)
	}
	s.indexes.Delete(o.indexID)
	return nil
}

// identityOp sets the cluster identity, a lower-case UUID.
//
//	"identity":{"uuid":"<UUID>"}
type identityOp string

func (identityOp) name() string { return "identity" }

func (o identityOp) append(dst []byte) []byte {
	return append(strictjson.AppendString(append(dst, `{"uuid":`...), string(o)), '}')
}

func readIdentityOp(r *strictjson.Reader) (op, error) {
	var identity string
	err := readMember(r, "uuid", func() error { return readUUID(r, &identity) })
	return identityOp(identity), err
}

func (o identityOp) applyToRoot(s *rootState) error {
	if s.identity != "" {
		return fmt.Errorf("identity: it is set already")
	}
	s.identity = string(o)
	return nil
}

func readUUID(r *strictjson.Reader, into *string) error {
	return readParsed(r, into, func(text string) (string, error) {
		id, err := uuid.Parse(text)
		return id.String(), err
	})
}
