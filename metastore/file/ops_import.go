package file

import (
	"errors"

	"holdfast/metastore"
	"holdfast/metastore/internal/strictjson"
)

// importOp begins an incarnation of the index with all that the object "_import/<version>-<write id>.json" of its
// version and write id holds, which is laid out as a snapshot of that version. It is alone in its entry. The
// object was written and checked before the entry was offered, so the entry is the commit.
//
//	"import":{"index_uid":"<index id>:<ULID>"}
type importOp struct{ indexUID metastore.IndexUID }

func (importOp) name() string { return "import" }

func (o importOp) append(dst []byte) []byte {
	return append(strictjson.AppendString(append(dst, `{"index_uid":`...), o.indexUID.String()), '}')
}

func readImportOp(r *strictjson.Reader) (op, error) {
	var o importOp
	err := readMember(r, "index_uid", func() error { return readParsed(r, &o.indexUID, metastore.ParseIndexUID) })
	return o, err
}

// applyToIndex refuses the operation: what it brings is in another object, see commitLog.step.
func (importOp) applyToIndex(*indexState, int64) error {
	return errors.New("import: it must be the only operation of its entry")
}

// isImport reports whether the state after the entry is in an object of its own.
func (e *entry) isImport() bool {
	if len(e.ops) != 1 {
		return false
	}
	_, ok := e.ops[0].(importOp)
	return ok
}
