package file

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"holdfast/metastore"
	"holdfast/metastore/internal/strictjson"
)

// indexCodec writes the snapshots of an index: the document that Quickwit keeps of an index in
// "<index id>/metastore.json" (version 0.9), with our member "holdfast", which Quickwit ignores:
//
//	{"version":"0.9",
//	 "holdfast":{"format":1,"log_version":12,"write_id":"6f…","dropped":"<index uid>"},
//	 "records":[<idempotency record>],
//	 "index":<index metadata document>,
//	 "splits":[<split document>],
//	 "shards":{"<source id>":[<shard document>]},
//	 "delete_tasks":[<delete task document>],
//	 "metrics_splits":[<stored Parquet split>],"sketch_splits":[<stored Parquet split>],
//	 "crc32c":"0a1b2c3d"}
//
// "index" is missing while no incarnation exists; such a snapshot is no document of Quickwit's.
// "dropped" is missing if none was deleted, "records", "shards" and either list of Parquet splits if
// there are none. Splits are ordered by id, shards by
// source id and shard id.
var indexCodec = snapshotCodec[*indexState]{blank: newIndexState, write: writeIndexSnapshot, read: readIndexSnapshot}

// snapshotPiece is about how many bytes of a snapshot are written at once.
const snapshotPiece = 64 << 10

func writeIndexSnapshot(w io.Writer, h *head[*indexState]) (err error) {
	buffer := append([]byte(nil), `{"version":"0.9","holdfast":`...)
	buffer = appendSnapshotHead(buffer, h)
	if h.state.dropped != (metastore.IndexUID{}) {
		buffer = strictjson.AppendString(append(buffer, `,"dropped":`...), h.state.dropped.String())
	}
	buffer = append(buffer, '}')
	if buffer, err = writeRecords(w, buffer, &h.state.records); err != nil {
		return err
	}
	if h.state.index != nil {
		buffer = h.state.index.AppendJSON(append(buffer, `,"index":`...))
	}
	buffer = append(buffer, `,"splits":[`...)
	var document []byte
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
	if buffer, err = writeParquetSplits(w, buffer, &h.state.parquet); err != nil {
		return err
	}
	_, err = w.Write(buffer)
	return err
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
		case "records":
			return d.records(&h.state.records)
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
		case parquetMembers[metastore.MetricsSplits]:
			return d.parquetSplits(&h.state.parquet[metastore.MetricsSplits])
		case parquetMembers[metastore.SketchSplits]:
			return d.parquetSplits(&h.state.parquet[metastore.SketchSplits])
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
	if err := checkParquetSplits(h.state); err != nil {
		return nil, err
	}
	if err := checkShards(h.state); err != nil {
		return nil, err
	}
	return h, nil
}
