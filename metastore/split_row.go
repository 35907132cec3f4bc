package metastore

import (
	"strconv"
	"strings"

	"holdfast/metastore/internal/strictjson"
)

// AppendJSON appends the peer's Split document: the state and the timestamps, then the keys of the
// metadata document, in one object.
func (r *SplitRow) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"split_state":"`...)
	dst = append(dst, r.State.String()...)
	dst = append(dst, `","update_timestamp":`...)
	dst = strconv.AppendInt(dst, r.UpdateTimestamp, 10)
	dst = append(dst, `,"publish_timestamp":`...)
	if r.PublishTimestamp.Set {
		dst = strconv.AppendInt(dst, r.PublishTimestamp.Value, 10)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, ',')
	return append(dst, strings.TrimPrefix(r.Document, "{")...)
}

// Clone returns a copy that shares no memory with the row.
func (r *SplitRow) Clone() SplitRow {
	clone := *r
	clone.Document = strings.Clone(r.Document)
	return clone
}

// Split reads the metadata document. It fails with JsonDeserializeError.
func (r *SplitRow) Split() (Split, error) {
	metadata, err := ParseSplitMetadata([]byte(r.Document))
	if err != nil {
		return Split{}, err
	}
	return Split{
		State:            r.State,
		UpdateTimestamp:  r.UpdateTimestamp,
		PublishTimestamp: r.PublishTimestamp,
		Metadata:         metadata,
	}, nil
}

// Row returns the split with its metadata as text.
func (s *Split) Row() SplitRow {
	return SplitRow{
		State:            s.State,
		UpdateTimestamp:  s.UpdateTimestamp,
		PublishTimestamp: s.PublishTimestamp,
		Document:         s.Metadata.Document(),
	}
}

// ParseSplitRow reads the peer's Split document. The metadata keys follow the rules of
// ParseSplitMetadata. It fails with JsonDeserializeError.
func ParseSplitRow(text []byte) (SplitRow, error) {
	if row, ok := scanSplitRow(viewString(text)); ok {
		return row, nil
	}
	var row SplitRow
	err := strictjson.Decode("", text, func(r *strictjson.Reader) error { return row.read(r, unixNow) })
	if err != nil {
		return SplitRow{}, JSONDeserialize(structSplit, err)
	}
	return row, nil
}

var splitKeys = append(strictjson.Keys{
	{Name: "split_state", Required: true},
	{Name: "update_timestamp", Required: true},
	{Name: "publish_timestamp"},
}, splitMetadataKeys...)

func readSplitState(r *strictjson.Reader, state *SplitState) error {
	var text string
	if err := r.String(&text); err != nil {
		return err
	}
	parsed, err := ParseSplitState(text)
	*state = parsed
	return err
}

func (r *SplitRow) read(reader *strictjson.Reader, now func() int64) error {
	var metadata SplitMetadata
	builder := splitMetadataReader{SplitMetadata: &metadata}
	builder.begin()
	err := reader.Object(splitKeys, strictjson.Pass, func(key string) error {
		switch key {
		case "split_state":
			return readSplitState(reader, &r.State)
		case "update_timestamp":
			return reader.Int64(&r.UpdateTimestamp)
		case "publish_timestamp":
			if reader.IsNull() {
				return reader.Skip()
			}
			r.PublishTimestamp.Set = true
			return reader.Int64(&r.PublishTimestamp.Value)
		}
		return builder.field(reader, key)
	})
	if err != nil {
		return err
	}
	builder.finish(now)
	r.Document = metadata.document
	return nil
}
