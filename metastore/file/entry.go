package file

import (
	"strconv"

	"github.com/google/uuid"
)

// entryFormat is the version of the layout of entries. A reader refuses a newer one, and it refuses
// members and operations that it does not know, because leaving out a change would fork the log.
const entryFormat = 1

// maxEntryBytes bounds what is read for one entry.
const maxEntryBytes = 1 << 30

// entry is one object of a log: the changes that were committed together.
//
//	{"format":1,"version":12,"write_id":"6f…","time":1764510000,"ops":[
//	  {"stage":{"splits":[<split metadata document>]}},
//	  …
//	],"crc32c":"0a1b2c3d"}
//
// Each element of ops is an object with one member, the operation's name. There is room beside it for
// more members about the operation.
type entry struct {
	version uint64
	// writeID is drawn for each attempt to create an entry. It tells a writer that got no answer
	// whether the entry it finds is its own.
	writeID uuid.UUID
	// time is the writer's clock in seconds: the update timestamp of everything in the entry.
	time int64
	ops  []op
}

// numRecords counts the idempotency records that the entry adds.
func (e *entry) numRecords() (n int) {
	for _, o := range e.ops {
		if _, ok := o.(recordOp); ok {
			n++
		}
	}
	return n
}

// append appends the object's text.
func (e *entry) append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, `{"format":`...)
	dst = strconv.AppendInt(dst, entryFormat, 10)
	dst = append(dst, `,"version":`...)
	dst = strconv.AppendUint(dst, e.version, 10)
	dst = append(dst, `,"write_id":"`...)
	dst = append(dst, e.writeID.String()...)
	dst = append(dst, `","time":`...)
	dst = strconv.AppendInt(dst, e.time, 10)
	dst = append(dst, `,"ops":[`...)
	for i, o := range e.ops {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, `{"`...), o.name()...), `":`...)
		dst = append(o.append(dst), '}')
	}
	dst = append(dst, ']')
	return append(dst[:start], appendSeal(dst[start:])...)
}
