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
	uid        metastore.IndexUID
	retention  int // days; 0: none
	sources    map[string]source
	partitions map[string]int // how many records are published of each partition of source "queue"
	splits     map[string]split
	parquet    [2]map[string]metastore.SplitState // by kind
	shards     map[string]shard
	tasks      map[uint64]string // queries by opstamp
	floor      uint64            // later opstamps are above it; not part of the comparison, as others may raise it
}

type source struct {
	pipelines uint64
	disabled  bool
}

type split struct {
	state   metastore.SplitState
	docs    uint64
	opstamp uint64
}

type shard struct {
	token    string
	position int
}

func newIndex(uid metastore.IndexUID) *index {
	return &index{
		uid: uid, sources: map[string]source{}, partitions: map[string]int{}, splits: map[string]split{},
		parquet: [2]map[string]metastore.SplitState{{}, {}}, shards: map[string]shard{}, tasks: map[uint64]string{},
	}
}

// settings describes what belongs to the index as a whole.
func (x *index) settings() []string {
	lines := []string{fmt.Sprintf("%s: retention %d", x.uid, x.retention)}
	for id, s := range x.sources {
		lines = append(lines, fmt.Sprintf("%s: source %s: %d pipelines, disabled %v", x.uid, id, s.pipelines, s.disabled))
	}
	return lines
}

// contents describes the rest.
func (x *index) contents() []string {
	var lines []string
	add := func(format string, args ...any) {
		lines = append(lines, x.uid.String()+": "+fmt.Sprintf(format, args...))
	}
	for id, records := range x.partitions {
		add("partition %s: %s", id, position(records))
	}
	for id, s := range x.splits {
		add("split %s: %s, %d docs, opstamp %d", id, s.state, s.docs, s.opstamp)
	}
	for kind, splits := range x.parquet {
		for id, state := range splits {
			add("%s split %s: %s", metastore.ParquetKind(kind), id, state)
		}
	}
	for id, s := range x.shards {
		add("shard %s: token %q, position %q", id, s.token, position(s.position))
	}
	for opstamp, query := range x.tasks {
		add("delete task %d: %s", opstamp, query)
	}
	return lines
}

// position is that of so many records.
func position(records int) metastore.Position {
	if records == 0 {
		return metastore.Beginning
	}
	return metastore.Position(fmt.Sprintf("%020d", records))
}

func templateLine(id string, priority uint64) string {
	return fmt.Sprintf("template %s: priority %d", id, priority)
}

// expected is the state that follows if every call of all clients ran exactly once.
func expected(clients []*client) []string {
	lines := clients[0].shared.settings()
	for _, c := range clients {
		lines = append(lines, c.own.settings()...)
		lines = append(lines, c.own.contents()...)
		lines = append(lines, c.shared.contents()...)
		for id, priority := range c.templates {
			lines = append(lines, templateLine(id, priority))
		}
	}
	slices.Sort(lines)
	return lines
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
