package file

import (
	"errors"
	"fmt"

	"holdfast/metastore/internal/strictjson"
)

// op is one change. It names exactly what it changes and holds whenever it is applied: what it found
// already as wanted is left out. The operations on one subject are in one file, with their layout.
type op interface {
	// name is the member of an entry's element that holds the operation.
	name() string
	// append appends the member's value.
	append(dst []byte) []byte
}

// indexOp is an operation that the log of an index may hold.
type indexOp interface {
	op
	// applyToIndex makes the change. It depends on nothing but the state, the operation and the time
	// of its entry. An operation that does not fit the state is an error: the log is damaged. But for
	// createOp and fenceOp there is an index.
	applyToIndex(s *indexState, time int64) error
}

// rootOp is an operation that the root log may hold.
type rootOp interface {
	op
	// applyToRoot is as applyToIndex.
	applyToRoot(s *rootState) error
}

// opReaders returns the reader of each operation's value, by name.
var opReaders = map[string]func(*strictjson.Reader) (op, error){
	createOp{}.name():              readCreateOp,
	updateOp{}.name():              readUpdateOp,
	dropOp{}.name():                readDropOp,
	fenceOp{}.name():               readFenceOp,
	importOp{}.name():              readImportOp,
	stageOp{}.name():               readStageOp,
	publishOp{}.name():             readPublishOp,
	markOp{}.name():                readMarkOp,
	deleteOp{}.name():              readDeleteOp,
	checkpointOp{}.name():          readCheckpointOp,
	openShardsOp{}.name():          readOpenShardsOp,
	acquireShardsOp{}.name():       readAcquireShardsOp,
	publishShardsOp{}.name():       readPublishShardsOp,
	deleteShardsOp{}.name():        readDeleteShardsOp,
	createDeleteTaskOp{}.name():    readCreateDeleteTaskOp,
	raiseDeleteOpstampOp(0).name(): readRaiseDeleteOpstampOp,
	updateDeleteOpstampOp{}.name(): readUpdateDeleteOpstampOp,
	stageParquetOp{}.name():        readStageParquetOp,
	publishParquetOp{}.name():      readPublishParquetOp,
	markParquetOp{}.name():         readMarkParquetOp,
	deleteParquetOp{}.name():       readDeleteParquetOp,
	addIndexOp{}.name():            readAddIndexOp,
	removeIndexOp{}.name():         readRemoveIndexOp,
	recordOp{}.name():              readRecordOp,
	identityOp("").name():          readIdentityOp,
	putTemplateOp{}.name():         readPutTemplateOp,
	dropTemplatesOp{}.name():       readDropTemplatesOp,
}

// readOp reads an element of an entry's operations.
func readOp(r *strictjson.Reader) (op, error) {
	var read op
	members := 0
	err := r.Map(func(name string) (err error) {
		members++
		reader := opReaders[name]
		if reader == nil {
			return errors.New("this program does not know the operation; a newer one wrote the object")
		}
		read, err = reader(r)
		return err
	})
	if err == nil && members != 1 {
		err = fmt.Errorf("must hold exactly one operation, not %d", members)
	}
	return read, err
}

// readMember reads an object of one required member.
func readMember(r *strictjson.Reader, name string, read func() error) error {
	keys := strictjson.Keys{{Name: name, Required: true}}
	return r.Object(keys, strictjson.Reject, func(string) error { return read() })
}
