package file

import (
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"holdfast/metastore/idempotency"
	"holdfast/metastore/internal/strictjson"
)

// appendSnapshotHead appends what every snapshot says about its log, and leaves the object open.
func appendSnapshotHead[S state[S]](dst []byte, h *head[S]) []byte {
	format := snapshotFormat
	if h.state.recorded().len() > 0 {
		format = snapshotFormatRecords
	}
	dst = strconv.AppendInt(append(dst, `{"format":`...), int64(format), 10)
	dst = strconv.AppendUint(append(dst, `,"log_version":`...), h.version, 10)
	return strictjson.AppendString(append(dst, `,"write_id":`...), h.writeID.String())
}

// writeRecords appends the member of the records, if there are any, to what is to be written, and writes
// when that is much. It returns what is left to be written.
func writeRecords(w io.Writer, buffer []byte, records *recordSet) ([]byte, error) {
	if records.len() == 0 {
		return buffer, nil
	}
	var err error
	opening := `,"records":[`
	for _, text := range records.unreadable {
		buffer = append(append(buffer, opening...), text...)
		opening = ","
	}
	records.tree.Scan(func(record *idempotency.Record) bool {
		buffer = record.AppendJSON(append(buffer, opening...))
		opening = ","
		if len(buffer) >= snapshotPiece {
			_, err = w.Write(buffer)
			buffer = buffer[:0]
		}
		return err == nil
	})
	return append(buffer, ']'), err
}

// records reads the member.
func (d *snapshotDecoder) records(into *recordSet) error {
	return d.elements(func(text jsontext.Value) error {
		record := &idempotency.Record{}
		if err := strictjson.Decode("", text, record.Read); err != nil {
			into.unreadable = append(into.unreadable, string(text))
			return nil
		}
		into.put(record)
		return nil
	})
}
