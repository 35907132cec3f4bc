package file

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"
	"github.com/tidwall/btree"

	"holdfast/metastore/indexconfig"
)

// rootState is what the root log has built: the ids of the indexes that may exist, the index templates,
// and the identity.
type rootState struct {
	// indexes maps ids to generations. An id may be without an index; see create_index.go.
	indexes *btree.Map[string, ulid.ULID]
	// templates holds the index templates by id.
	templates *btree.Map[string, *indexconfig.IndexTemplate]
	// identity is a lower-case UUID, empty until it is drawn.
	identity string
	// records are of calls that the root log alone commits.
	records recordSet
}

var _ state[*rootState] = (*rootState)(nil)

func newRootState() *rootState {
	return &rootState{records: newRecordSet(), indexes: &btree.Map[string, ulid.ULID]{}, templates: &btree.Map[string, *indexconfig.IndexTemplate]{}}
}

func (s *rootState) fork() *rootState {
	return &rootState{indexes: s.indexes.Copy(), templates: s.templates.Copy(), identity: s.identity, records: s.records.copy()}
}

func (s *rootState) recorded() *recordSet { return &s.records }

func (s *rootState) apply(o op, _ int64) error {
	change, ok := o.(rootOp)
	if !ok {
		return fmt.Errorf("%s: the operation does not belong into the root log", o.name())
	}
	return change.applyToRoot(s)
}

// generation returns the generation of an index id, the zero value if the id is not in the set.
func (s *rootState) generation(indexID string) ulid.ULID {
	generation, _ := s.indexes.Get(indexID)
	return generation
}

// indexIDs returns the ids that match, in the order of the text of their UIDs.
func (s *rootState) indexIDs(matches func(indexID string) bool) []string {
	ids := make([]string, 0, s.indexes.Len())
	s.indexes.Scan(func(id string, _ ulid.ULID) bool {
		if matches == nil || matches(id) {
			ids = append(ids, id)
		}
		return true
	})
	slices.SortFunc(ids, compareIndexIDs)
	return ids
}

// compareIndexIDs orders ids as the UIDs are that begin with them.
func compareIndexIDs(a, b string) int { return strings.Compare(a+":", b+":") }
