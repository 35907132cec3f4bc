package file

import (
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"holdfast/metastore"
	"holdfast/metastore/internal/strictjson"
)

// indexCodec writes the snapshots of an index: the document that Quickwit keeps of an index in
// "<index id>/metastore.json" (version 0.9), with our member "holdfast", which Quickwit ignores:
//
//	{"version":"0.9",
//	 "holdfast":{"format":1,"log_version":12,"write_id":"6f…","dropped":"<index uid>","delete_opstamp_floor":"4"},
//	 "records":[<idempotency record>],
//	 "index":<index metadata document>,
//	 "splits":[<split document>],
//	 "shards":{"<source id>":[<shard document>]},
//	 "delete_tasks":[<delete task document>],
//	 "metrics_splits":[<stored Parquet split>],"sketch_splits":[<stored Parquet split>],
//	 "crc32c":"0a1b2c3d"}
//
// "index" is missing while no incarnation exists; such a snapshot is no document of Quickwit's.
// "dropped" is missing if none was deleted, "delete_opstamp_floor" if the opstamps of delete tasks say all, "records", "shards" and either list of Parquet splits if
// there are none. Splits are ordered by id, shards by
// source id and shard id. Members of an imported document that are not among these stand before the last one.
var indexCodec = snapshotCodec[*indexState]{blank: newIndexState, write: writeIndexSnapshot, read: readIndexSnapshot}

// snapshotPiece is about how many bytes of a snapshot are written at once.
const snapshotPiece = 64 << 10

func writeIndexSnapshot(w io.Writer, h *head[*indexState]) (err error) {
	buffer := append([]byte(nil), `{"version":"0.9","holdfast":`...)
	buffer = appendSnapshotHead(buffer, h)
	if h.state.dropped != (metastore.IndexUID{}) {
		buffer = strictjson.AppendString(append(buffer, `,"dropped":`...), h.state.dropped.String())
	}
	if raised := h.state.deleteTasks.raised; raised > h.state.deleteTasks.last() {
		buffer = strictjson.AppendString(append(buffer, `,"delete_opstamp_floor":`...), strconv.FormatUint(raised, 10))
	}
	buffer = append(buffer, '}')
	if buffer, err = writeRecords(w, buffer, &h.state.records); err != nil {
		return err
	}
	if buffer, err = writeIndexMembers(w, buffer, h.state); err != nil {
		return err
	}
	_, err = w.Write(buffer)
	return err
}

// writeIndexMembers writes the members that are Quickwit's behind what the buffer holds, and returns the buffer with what
// is not written yet.
func writeIndexMembers(w io.Writer, buffer []byte, s *indexState) (_ []byte, err error) {
	if s.index != nil {
		buffer = s.index.AppendJSON(append(buffer, `,"index":`...))
	}
	buffer = append(buffer, `,"splits":[`...)
	var document []byte
	first := true
	s.splits.ascend("", func(split *splitRecord) bool {
		if !first {
			buffer = append(buffer, ',')
		}
		first = false
		var row metastore.SplitRow
		row, document = split.row(document)
		buffer = row.AppendJSON(buffer)
		if len(buffer) >= snapshotPiece {
			_, err = w.Write(buffer)
			buffer = buffer[:0]
		}
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	if buffer, err = writeShards(w, append(buffer, ']'), &s.shards); err != nil {
		return nil, err
	}
	if buffer, err = writeDeleteTasks(w, buffer, &s.deleteTasks); err != nil {
		return nil, err
	}
	if buffer, err = writeParquetSplits(w, buffer, &s.parquet); err != nil {
		return nil, err
	}
	return append(buffer, s.unknown...), nil
}

func readIndexSnapshot(r io.Reader) (*head[*indexState], error) {
	members := newIndexMembers()
	h := &head[*indexState]{state: members.state}
	described := false
	err := readSnapshotMembers(r, nil, func(d *snapshotDecoder, key string) error {
		switch key {
		case "version":
			return d.version()
		case "holdfast":
			described = true
			return d.head(&h.version, &h.writeID, map[string]func(string) error{
				"dropped": func(text string) (err error) {
					h.state.dropped, err = metastore.ParseIndexUID(text)
					return err
				},
				"delete_opstamp_floor": func(text string) (err error) {
					h.state.deleteTasks.raised, err = strconv.ParseUint(text, 10, 63)
					return err
				},
			})
		case "records":
			return d.records(&h.state.records)
		case "crc32c":
			return d.SkipValue()
		}
		known, err := members.read(d, key)
		if !known {
			return members.keep(d, key)
		}
		return err
	})
	if err == nil && !described {
		err = errors.New("member holdfast is missing")
	}
	if err == nil {
		err = members.check()
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}

// indexMembers reads the members that are Quickwit's into a state, in any order.
type indexMembers struct {
	state  *indexState
	splits splitSink
}

// splitSink takes the splits of a document one by one.
type splitSink interface {
	// take takes one split, and reports whether it stands for one that was taken before. It must not keep the text.
	take(text []byte) (again bool, err error)
	// appendLast appends the split that was taken last, as it is written.
	appendLast(dst []byte) []byte
}

func newIndexMembers() indexMembers {
	loader := &splitLoader{state: newIndexState()}
	return indexMembers{state: loader.state, splits: loader}
}

// read reads the value of a member, unless it is not known.
func (m *indexMembers) read(d *snapshotDecoder, key string) (known bool, err error) {
	switch key {
	case "index":
		var text jsontext.Value
		if text, err = d.ReadValue(); err == nil {
			m.state.index, err = metastore.ParseIndexMetadata(text)
		}
	case "splits":
		err = d.splits(m.splits)
	case "shards":
		err = d.shards(&m.state.shards)
	case "delete_tasks":
		err = d.deleteTasks(&m.state.deleteTasks)
	case parquetMembers[metastore.MetricsSplits]:
		err = d.parquetSplits(&m.state.parquet[metastore.MetricsSplits])
	case parquetMembers[metastore.SketchSplits]:
		err = d.parquetSplits(&m.state.parquet[metastore.SketchSplits])
	default:
		return false, nil
	}
	return true, err
}

// keep reads the value of a member that is not known, and keeps it as it is.
func (m *indexMembers) keep(d *snapshotDecoder, key string) error {
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	m.state.unknown = strictjson.AppendString(append(m.state.unknown, ','), key)
	m.state.unknown = strictjson.AppendCompact(append(m.state.unknown, ':'), value)
	return nil
}

// check checks what the members say together, when all are read.
func (m *indexMembers) check() error {
	switch {
	case m.state.index == nil && m.state.splits.len() > 0:
		return errors.New("there are splits, but member index is missing")
	case m.state.index == nil && m.state.deleteTasks.last() > 0:
		return errors.New("there are delete tasks, but member index is missing")
	}
	if err := checkParquetSplits(m.state); err != nil {
		return err
	}
	return checkShards(m.state)
}
