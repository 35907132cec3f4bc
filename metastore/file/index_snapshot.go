package file

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"holdfast/metastore"
	"holdfast/metastore/internal/strictjson"
)

// indexCodec writes the snapshots of an index: the document that Quickwit keeps of an index in
// "<index id>/metastore.json" (version 0.9), with our member "holdfast", which Quickwit ignores:
//
//	{"version":"0.9",
//	 "holdfast":{"format":1,"log_version":12,"write_id":"6f…","dropped":"<index uid>"},
//	 "index":<index metadata document>,
//	 "splits":[<split document>],
//	 "shards":{"<source id>":[<shard document>]},
//	 "delete_tasks":[<delete task document>],
//	 "crc32c":"0a1b2c3d"}
//
// "index" is missing while no incarnation exists; such a snapshot is no document of Quickwit's.
// "dropped" is missing if none was deleted, "shards" if there are none. Splits are ordered by id, shards by
// source id and shard id.
var indexCodec = snapshotCodec[*indexState]{blank: newIndexState, write: writeIndexSnapshot, read: readIndexSnapshot}

// snapshotPiece is about how many bytes of a snapshot are written at once.
const snapshotPiece = 64 << 10

func writeIndexSnapshot(w io.Writer, h *head[*indexState]) error {
	buffer := append([]byte(nil), `{"version":"0.9","holdfast":`...)
	buffer = appendSnapshotHead(buffer, h.version, h.writeID)
	if h.state.dropped != (metastore.IndexUID{}) {
		buffer = strictjson.AppendString(append(buffer, `,"dropped":`...), h.state.dropped.String())
	}
	buffer = append(buffer, '}')
	if h.state.index != nil {
		buffer = h.state.index.AppendJSON(append(buffer, `,"index":`...))
	}
	buffer = append(buffer, `,"splits":[`...)
	var document []byte
	var err error
	first := true
	h.state.splits.ascend("", func(split *splitRecord) bool {
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
		return err
	}
	if buffer, err = writeShards(w, append(buffer, ']'), &h.state.shards); err != nil {
		return err
	}
	if buffer, err = writeDeleteTasks(w, buffer, &h.state.deleteTasks); err != nil {
		return err
	}
	_, err = w.Write(buffer)
	return err
}

// appendSnapshotHead appends what every snapshot says about its log, and leaves the object open.
func appendSnapshotHead(dst []byte, version uint64, writeID uuid.UUID) []byte {
	dst = append(dst, `{"format":`...)
	dst = strconv.AppendInt(dst, snapshotFormat, 10)
	dst = append(dst, `,"log_version":`...)
	dst = strconv.AppendUint(dst, version, 10)
	dst = append(dst, `,"write_id":`...)
	return strictjson.AppendString(dst, writeID.String())
}

func readIndexSnapshot(r io.Reader) (*head[*indexState], error) {
	h := &head[*indexState]{state: newIndexState()}
	loader := splitLoader{state: h.state}
	described := false
	err := readSnapshotMembers(r, func(d *snapshotDecoder, key string) error {
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
			})
		case "index":
			text, err := d.ReadValue()
			if err == nil {
				h.state.index, err = metastore.ParseIndexMetadata(text)
			}
			return err
		case "splits":
			return d.elements(func(text jsontext.Value) error { return loader.load(text) })
		case "shards":
			return d.shards(&h.state.shards)
		case "delete_tasks":
			return d.deleteTasks(&h.state.deleteTasks)
		case "metrics_splits", "sketch_splits":
			return d.nothing()
		default:
			return d.SkipValue()
		}
	})
	switch {
	case err != nil:
		return nil, err
	case !described:
		return nil, errors.New("member holdfast is missing")
	case h.state.index == nil && h.state.splits.len() > 0:
		return nil, errors.New("there are splits, but member index is missing")
	case h.state.index == nil && h.state.deleteTasks.last() > 0:
		return nil, errors.New("there are delete tasks, but member index is missing")
	}
	if err := checkShards(h.state); err != nil {
		return nil, err
	}
	return h, nil
}

// nothing reads a member that holds what this program does not know yet; leaving it out would lose it.
func (d *snapshotDecoder) nothing() error {
	text, err := d.ReadValue()
	if err != nil {
		return err
	}
	if compact := string(text); compact != "[]" && compact != "{}" {
		return fmt.Errorf("holds something, and this program does not know what")
	}
	return nil
}
