package chaos

import (
	"fmt"
	"maps"
	"slices"

	"holdfast/metastore"
)

// index is what a client expects of an index, or of its own part of one that all share. Everything in it has an id
// that begins with the client's name.
type index struct {
	uid         metastore.IndexUID
	retention   int // days; 0: none
	sources     map[string]source
	checkpoints map[string]map[string]int // how many records are published, by source and partition
	splits      map[string]split
	parquet     [2]map[string]metastore.SplitState // by kind
	shards      map[string]shard
	tasks       map[uint64]metastore.DeleteQuery // by opstamp
	floor       uint64                           // later opstamps are above it; not part of the comparison, as others may raise it
}

type source struct {
	pipelines uint64
	disabled  bool
}

type split struct {
	state     metastore.SplitState
	docs      uint64
	opstamp   uint64
	published bool // once
}

type shard struct {
	token    string // empty if there is none
	position int
	ended    bool
}

func newIndex(uid metastore.IndexUID) *index {
	return &index{
		uid: uid, sources: map[string]source{}, checkpoints: map[string]map[string]int{}, splits: map[string]split{},
		parquet: [2]map[string]metastore.SplitState{{}, {}}, shards: map[string]shard{}, tasks: map[uint64]metastore.DeleteQuery{},
	}
}

// move puts splits into a state.
func (x *index) move(state metastore.SplitState, ids ...string) {
	for _, id := range ids {
		s := x.splits[id]
		s.state = state
		s.published = s.published || state == metastore.Published
		x.splits[id] = s
	}
}

// publish adds progress in a partition of source "queue".
func (x *index) publish(partition string, to int) {
	if x.checkpoints[queueSource] == nil {
		x.checkpoints[queueSource] = map[string]int{}
	}
	x.checkpoints[queueSource][partition] = to
}

// position is that of so many records.
func position(records int) metastore.Position {
	if records == 0 {
		return metastore.Beginning
	}
	return metastore.Position(fmt.Sprintf("%020d", records))
}

func (s shard) at() metastore.Position {
	if s.ended {
		return "~" + position(s.position)
	}
	return position(s.position)
}

// expected is the state that follows if every call of all clients ran exactly once.
func expected(clients []*client) ([]string, error) {
	var lines []string
	shared := startOf(clients[0].shared.uid)
	add := func(x *index) error {
		settings, err := x.settings()
		lines = append(lines, settings)
		return err
	}
	for _, c := range clients {
		if err := add(c.own); err != nil {
			return nil, err
		}
		lines = append(append(lines, c.own.contents()...), c.shared.contents()...)
		for partition, records := range c.shared.checkpoints[queueSource] {
			shared.publish(partition, records)
		}
		for id, priority := range c.templates {
			made, err := template(id, priority)
			if err != nil {
				return nil, err
			}
			lines = append(lines, templateLine(made))
		}
	}
	err := add(shared)
	slices.Sort(lines)
	return lines, err
}

// inState returns the ids of the splits in a state, sorted.
func inState[S any](splits map[string]S, is func(S) bool) []string {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(splits)) {
		if is(splits[id]) {
			ids = append(ids, id)
		}
	}
	return ids
}
