package postgres

import (
	"encoding/binary"
	"fmt"

	"holdfast/metastore"
)

// columns are the values of one row in binary format, valid until the next row is read. NULL is nil.
type columns [][]byte

func (c columns) text(i int) string { return string(c[i]) }

// bool is false for NULL.
func (c columns) bool(i int) bool { return len(c[i]) == 1 && c[i][0] != 0 }

// int8 is 0 for NULL.
func (c columns) int8(i int) int64 {
	if len(c[i]) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(c[i]))
}

// seconds reads a timestamp as Unix seconds, rounded down.
func (c columns) seconds(i int) int64 {
	micros := c.int8(i)
	seconds := micros / 1_000_000
	if micros%1_000_000 < 0 {
		seconds--
	}
	return seconds + postgresEpoch
}

func (c columns) optionalSeconds(i int) metastore.Optional[int64] {
	if c[i] == nil {
		return metastore.Optional[int64]{}
	}
	return metastore.Some(c.seconds(i))
}

// state reads a split state. Two names of earlier releases are understood, as the peer does.
func (c columns) state(i int) (metastore.SplitState, error) {
	switch string(c[i]) {
	case "Staged", "New":
		return metastore.Staged, nil
	case "Published":
		return metastore.Published, nil
	case "MarkedForDeletion", "ScheduledForDeletion":
		return metastore.MarkedForDeletion, nil
	}
	return 0, fmt.Errorf("column split_state: %.40q is not a split state", c[i])
}
