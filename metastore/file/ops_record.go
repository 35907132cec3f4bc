package file

import (
	"time"

	"holdfast/metastore/idempotency"
	"holdfast/metastore/internal/strictjson"
)

// recordOp remembers that the call of an idempotency key was executed, by operations of the same entry,
// and forgets the keys of before a time.
//
//	"record":{"record":<idempotency record>,"purge_before":1764507000000}
type recordOp struct {
	record idempotency.Record
	purge  time.Time // to the millisecond
}

func (recordOp) name() string { return "record" }

func (o recordOp) append(dst []byte) []byte {
	dst = o.record.AppendJSON(append(dst, `{"record":`...))
	w := strictjson.AppendTo(append(dst, `,"purge_before":`...))
	return append(w.Int64(o.purge.UnixMilli()).Bytes(), '}')
}

var recordOpKeys = strictjson.Keys{{Name: "record", Required: true}, {Name: "purge_before", Required: true}}

func readRecordOp(r *strictjson.Reader) (op, error) {
	var o recordOp
	err := r.Object(recordOpKeys, strictjson.Reject, func(key string) error {
		if key == "record" {
			return o.record.Read(r)
		}
		var milliseconds int64
		err := r.Int64(&milliseconds)
		o.purge = time.UnixMilli(milliseconds)
		return err
	})
	return o, err
}

func (o recordOp) applyToIndex(s *indexState, _ int64) error { return o.apply(&s.records) }

func (o recordOp) applyToRoot(s *rootState) error { return o.apply(&s.records) }

func (o recordOp) apply(records *recordSet) error {
	records.purge(o.purge)
	records.put(&o.record)
	return nil
}
