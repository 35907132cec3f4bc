package file

import (
	"strconv"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/internal/strictjson"
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
//	  {"publish":{"staged":["id"],"replaced":["id"]}},
//	  {"mark":{"split_ids":["id"]}},
//	  {"delete":{"split_ids":["id"]}},
//	  {"create":{"index":<index metadata document>}},
//	  {"update":{"index":<index metadata document>}},
//	  {"drop":{"index_uid":"<index id>:<ULID>"}},
//	  {"fence":{}}
//	],"crc32c":"0a1b2c3d"}
//
// and in the root log
//
//	{"add_index":{"index_id":"id","generation":"<ULID>"}},
//	{"remove_index":{"index_id":"id","generation":"<ULID>"}},
//	{"identity":{"uuid":"<UUID>"}}
//
// An operation names exactly what it changes and holds whenever it is applied: what it found already
// as wanted is left out. There is room beside an operation's name for more members about it.
type entry struct {
	version uint64
	// writeID is drawn for each attempt to create an entry. It tells a writer that got no answer
	// whether the entry it finds is its own.
	writeID uuid.UUID
	// time is the writer's clock in seconds: the update timestamp of everything in the entry.
	time int64
	ops  []op
}

// op is one change. Exactly one field is set.
type op struct {
	stage       []metastore.SplitMetadata
	publish     *publishOp
	mark        []string
	delete      []string
	create      *metastore.IndexMetadata
	update      *metastore.IndexMetadata
	drop        *metastore.IndexUID
	fence       bool
	addIndex    *rootIndex
	removeIndex *rootIndex
	identity    string
}

// publishOp publishes staged splits and marks replaced ones.
type publishOp struct {
	staged, replaced []string
}

// rootIndex is an index id in the root log. The generation is drawn anew whenever the id is added.
type rootIndex struct {
	indexID    string
	generation ulid.ULID
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
	for i := range e.ops {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = e.ops[i].append(dst)
	}
	dst = append(dst, ']')
	return append(dst[:start], appendSeal(dst[start:])...)
}

func (o *op) append(dst []byte) []byte {
	switch {
	case o.stage != nil:
		dst = append(dst, `{"stage":{"splits":[`...)
		for i := range o.stage {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, o.stage[i].Document()...)
		}
		return append(dst, `]}}`...)
	case o.publish != nil:
		dst = append(dst, `{"publish":{"staged":`...)
		dst = strictjson.AppendStrings(dst, o.publish.staged)
		dst = append(dst, `,"replaced":`...)
		dst = strictjson.AppendStrings(dst, o.publish.replaced)
		return append(dst, `}}`...)
	case o.mark != nil:
		return append(strictjson.AppendStrings(append(dst, `{"mark":{"split_ids":`...), o.mark), `}}`...)
	case o.delete != nil:
		return append(strictjson.AppendStrings(append(dst, `{"delete":{"split_ids":`...), o.delete), `}}`...)
	case o.create != nil:
		return append(o.create.AppendJSON(append(dst, `{"create":{"index":`...)), `}}`...)
	case o.update != nil:
		return append(o.update.AppendJSON(append(dst, `{"update":{"index":`...)), `}}`...)
	case o.drop != nil:
		return append(strictjson.AppendString(append(dst, `{"drop":{"index_uid":`...), o.drop.String()), `}}`...)
	case o.addIndex != nil:
		return append(o.addIndex.append(append(dst, `{"add_index":`...)), '}')
	case o.removeIndex != nil:
		return append(o.removeIndex.append(append(dst, `{"remove_index":`...)), '}')
	case o.identity != "":
		return append(strictjson.AppendString(append(dst, `{"identity":{"uuid":`...), o.identity), `}}`...)
	default:
		return append(dst, `{"fence":{}}`...)
	}
}

func (r *rootIndex) append(dst []byte) []byte {
	dst = strictjson.AppendString(append(dst, `{"index_id":`...), r.indexID)
	dst = strictjson.AppendString(append(dst, `,"generation":`...), r.generation.String())
	return append(dst, '}')
}
