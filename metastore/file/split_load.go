package file

import (
	"bytes"
	"strconv"

	"holdfast/metastore"
)

// splitLoader reads the splits of a snapshot into a state.
type splitLoader struct {
	state *indexState
	last  *splitRecord
	// document is the room for the metadata document of one split.
	document []byte
}

func (l *splitLoader) take(text []byte) (again bool, err error) {
	split, ok := l.scan(text)
	if !ok {
		row, err := metastore.ParseSplitRow(text)
		if err != nil {
			return false, err
		}
		if split, err = row.Split(); err != nil {
			return false, err
		}
	}
	l.last = newSplitRecord(&split)
	return l.state.splits.load(l.last), nil
}

func (l *splitLoader) appendLast(dst []byte) []byte {
	var row metastore.SplitRow
	row, l.document = l.last.row(l.document)
	return row.AppendJSON(dst)
}

// scan reads a document whose first three members are those that SplitRow.AppendJSON writes, as it
// writes them. Everything else, and everything wrong, is left to ParseSplitRow.
func (l *splitLoader) scan(text []byte) (split metastore.Split, ok bool) {
	state, rest, ok := member(text, `{"split_state":"`, `","update_timestamp":`)
	if !ok {
		return split, false
	}
	update, rest, ok := member(rest, "", `,"publish_timestamp":`)
	if !ok {
		return split, false
	}
	published, rest, ok := member(rest, "", `,"version":`)
	if !ok {
		return split, false
	}
	var err error
	if split.State, err = metastore.ParseSplitState(string(state)); err != nil {
		return split, false
	}
	if split.UpdateTimestamp, err = strconv.ParseInt(string(update), 10, 64); err != nil {
		return split, false
	}
	if string(published) != "null" {
		split.PublishTimestamp.Set = true
		if split.PublishTimestamp.Value, err = strconv.ParseInt(string(published), 10, 64); err != nil {
			return split, false
		}
	}
	l.document = append(append(l.document[:0], `{"version":`...), rest...)
	split.Metadata, err = metastore.ParseSplitMetadata(l.document)
	return split, err == nil
}

// member cuts the text between start, with which it must begin, and the next end.
func member(text []byte, start, end string) (value, rest []byte, ok bool) {
	text, ok = bytes.CutPrefix(text, []byte(start))
	if !ok {
		return nil, nil, false
	}
	return bytes.Cut(text, []byte(end))
}
