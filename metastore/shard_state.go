package metastore

import (
	"fmt"
	"slices"
)

// ShardState is the state of a shard. The numbers are those of the peer's protocol.
type ShardState uint8

const (
	// ShardUnspecified is never stored; as a filter it means all states.
	ShardUnspecified ShardState = iota
	// ShardOpen takes records.
	ShardOpen
	// ShardUnavailable is never stored by the metastore.
	ShardUnavailable
	// ShardClosed takes no more records. It is final.
	ShardClosed
)

// shardStates are the spellings of the states, which those columns have that hold them.
var shardStates = [...]string{ShardUnspecified: "unspecified", ShardOpen: "open", ShardUnavailable: "unavailable", ShardClosed: "closed"}

// String returns the spelling used in database columns.
func (s ShardState) String() string {
	if int(s) < len(shardStates) {
		return shardStates[s]
	}
	return fmt.Sprintf("ShardState(%d)", uint8(s))
}

// ParseShardState reads the spelling of String, exactly.
func ParseShardState(text string) (ShardState, error) {
	state := slices.Index(shardStates[:], text)
	if state < 0 {
		return 0, fmt.Errorf("%s is not a shard state: expected unspecified, open, unavailable or closed", quoteBounded(text))
	}
	return ShardState(state), nil
}
