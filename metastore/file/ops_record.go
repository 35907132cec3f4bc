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
	// unreadable is the text of a record that could not be read, which is there in place of the record.
	unreadable string
	purge      time.Time // to the millisecond
}

func (recordOp) name() string { return "record" }

func (o recordOp) append(dst []byte) []byte {
	dst = append(dst, `{"record":`...)
	if o.unreadable != "" {
		dst = append(dst, o.unreadable...)
	} else {
		dst = o.record.AppendJSON(dst)
	}
	w := strictjson.AppendTo(append(dst, `,"purge_before":`...))
	return append(w.Int64(o.purge.UnixMilli()).Bytes(), '}')
}

var recordOpKeys = strictjson.Keys{{Name: "record", Required: true}, {Name: "purge_before", Required: true}}

func readRecordOp(r *strictjson.Reader) (op, error) {
	var o recordOp
	err := r.Object(recordOpKeys, strictjson.Reject, func(key string) error {
		if key == "record" {
			var text []byte
			if err := r.Raw(&text); err != nil {
				return err
			}
			if err := strictjson.Decode("", text, o.record.Read); err != nil {
				o.record, o.unreadable = idempotency.Record{}, string(text)
			}
			return nil
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
	if o.unreadable != "" {
		records.unreadable = append(records.unreadable, o.unreadable)
	} else {
		records.put(&o.record)
	}
	return nil
}
