package metastore

import (
	"strconv"

	"holdfast/metastore/internal/strictjson"
)

const (
	structParquetSplitRecord = "quickwit_metastore::metastore::ParquetSplitRecord"
	structStoredParquetSplit = "quickwit_metastore::metastore::file_backed::file_backed_index::StoredParquetSplit"
)

// AppendJSON appends the peer's record of a listed split: its state, its update timestamp, and the
// metadata document.
func (r *ParquetSplitRow) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"state":"`...)
	dst = append(dst, r.State.String()...)
	dst = append(dst, `","update_timestamp":`...)
	dst = strconv.AppendInt(dst, r.UpdateTimestamp, 10)
	dst = append(dst, `,"metadata":`...)
	dst = append(dst, r.Document...)
	return append(dst, '}')
}

var parquetRowKeys = strictjson.Keys{
	{Name: "state", Required: true},
	{Name: "update_timestamp", Required: true},
	{Name: "metadata", Required: true},
}

// ParseParquetSplitRow reads the peer's record of a listed split. It fails with JsonDeserializeError.
func ParseParquetSplitRow(text []byte) (ParquetSplitRow, error) {
	var row ParquetSplitRow
	err := strictjson.Decode("", text, func(r *strictjson.Reader) error {
		return r.Object(parquetRowKeys, strictjson.Ignore, func(key string) error {
			switch key {
			case "state":
				return readSplitState(r, &row.State)
			case "update_timestamp":
				return r.Int64(&row.UpdateTimestamp)
			default: // metadata
				var metadata ParquetSplitMetadata
				err := metadata.read(r)
				row.Document = metadata.document
				return err
			}
		})
	})
	if err != nil {
		return ParquetSplitRow{}, JSONDeserialize(structParquetSplitRecord, err)
	}
	return row, nil
}

// Metadata reads the metadata document. It fails with JsonDeserializeError.
func (r *ParquetSplitRow) Metadata() (ParquetSplitMetadata, error) {
	return ParseParquetSplitMetadata([]byte(r.Document))
}

// Row returns the split as a listing hands it out.
func (s *ParquetSplit) Row() ParquetSplitRow {
	return ParquetSplitRow{State: s.State, UpdateTimestamp: s.UpdateTimestamp, Document: s.Metadata.Document()}
}

// Moved returns the split after a change of state at the given second.
func (s *ParquetSplit) Moved(to SplitState, now int64) *ParquetSplit {
	moved := *s
	moved.State, moved.UpdateTimestamp = to, now
	return &moved
}

// AppendJSON appends the document that the peer's file-backed store keeps of a Parquet split.
func (s *ParquetSplit) AppendJSON(dst []byte) []byte {
	dst = append(append(dst, `{"metadata":`...), s.Metadata.Document()...)
	dst = append(append(dst, `,"state":"`...), s.State.String()...)
	dst = strconv.AppendInt(append(dst, `","update_timestamp":`...), s.UpdateTimestamp, 10)
	dst = strconv.AppendInt(append(dst, `,"create_timestamp":`...), s.CreateTimestamp, 10)
	dst = strictjson.AppendString(append(dst, `,"node_id":`...), s.NodeID)
	dst = strconv.AppendUint(append(dst, `,"delete_opstamp":`...), s.DeleteOpstamp, 10)
	dst = strconv.AppendInt(append(dst, `,"maturity_timestamp":`...), s.MaturityTimestamp, 10)
	return append(dst, '}')
}

var storedParquetSplitKeys = strictjson.Keys{
	{Name: "metadata", Required: true},
	{Name: "state", Required: true},
	{Name: "update_timestamp", Required: true},
	{Name: "create_timestamp"},
	{Name: "node_id"},
	{Name: "delete_opstamp"},
	{Name: "maturity_timestamp"},
}

// ParseParquetSplit reads the document that AppendJSON writes. Unknown keys are ignored. It fails with
// JsonDeserializeError.
func ParseParquetSplit(text []byte) (*ParquetSplit, error) {
	split := &ParquetSplit{Metadata: &ParquetSplitMetadata{}}
	err := strictjson.Decode("", text, func(r *strictjson.Reader) error {
		return r.Object(storedParquetSplitKeys, strictjson.Ignore, func(key string) error {
			switch key {
			case "metadata":
				return split.Metadata.read(r)
			case "state":
				return readSplitState(r, &split.State)
			case "update_timestamp":
				return r.Int64(&split.UpdateTimestamp)
			case "create_timestamp":
				return r.Int64(&split.CreateTimestamp)
			case "node_id":
				return r.String(&split.NodeID)
			case "delete_opstamp":
				return r.Uint64(&split.DeleteOpstamp)
			default: // maturity_timestamp
				return r.Int64(&split.MaturityTimestamp)
			}
		})
	})
	if err != nil {
		return nil, JSONDeserialize(structStoredParquetSplit, err)
	}
	return split, nil
}
