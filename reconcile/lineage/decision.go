package lineage

import (
	"fmt"

	"holdfast/metastore"
)

// Plan is what Decide found: the same for the same objects, rows and options in any order.
type Plan struct {
	// IndexUID is the incarnation that is recovered. Its incarnation is zero when no object told one.
	IndexUID metastore.IndexUID
	// ReferenceTime is the time that ages were measured at, in unix seconds.
	ReferenceTime int64
	// Decisions holds one decision for each object, sorted by id.
	Decisions []Decision
	// Rows holds the Published rows that the objects contradict, sorted by id.
	Rows []RowDecision
	// Findings is what a reader of the report should know, sorted by code and ids.
	Findings []Finding
}

// Decision is what is to be done about one object, and why.
type Decision struct {
	ID     string
	Kind   Kind
	Reason Reason
	Flags  Flags
	// ForceMature says that a published row must be Mature, whatever the file says.
	ForceMature bool
	// AlreadyStaged says that the row to publish exists as Staged and must not be staged again.
	AlreadyStaged bool
	// Row is the state of the object's row; zero when it has none.
	Row metastore.SplitState
	// Evidence names the splits that the decision rests on: what replaced it, what it lost against,
	// what it may be contained in.
	Evidence []string
	// ReplacedSplitIDs are the Published rows that publishing this object must replace, sorted.
	ReplacedSplitIDs []string

	everPublished bool
}

// RowDecision is a Published row that the objects contradict.
type RowDecision struct {
	ID   string
	Kind RowKind
	// By is the split whose publication replaces or replaced it; empty when none is known.
	By string
}

// Kind is a decision. Its names are stable.
type Kind uint8

// The decisions. Only Publish changes anything.
const (
	// Publish: stage the row (unless AlreadyStaged) and publish it.
	Publish Kind = iota + 1
	// AlreadyPublished: the row is Published, and rightly so.
	AlreadyPublished
	// Superseded: a split that holds the same documents replaced it. No row.
	Superseded
	// Orphan: it was never published and must not be: another split has its documents. No row.
	Orphan
	// Inconsistent: lists, metadata or rows of its family contradict each other. A person decides.
	Inconsistent
	// ForeignIncarnation: it belongs to another index or to a deleted incarnation of this one.
	ForeignIncarnation
	// UnreadableObject: the file could not be understood.
	UnreadableObject
	// LegacyUndecided: a file without a recovery entry whose place nothing in the lists proves.
	LegacyUndecided
	// Marked: its row is marked for deletion and stays so.
	Marked
	// StagedBySomeone: it should be published, but the Staged row is not ours to publish.
	StagedBySomeone
	// Withheld: it would be published, but the options leave it to a person.
	Withheld
	// Wait: a live cluster may still be working on it.
	Wait
)

var kindNames = [...]string{
	Publish: "publish", AlreadyPublished: "already-published", Superseded: "superseded", Orphan: "orphan",
	Inconsistent: "inconsistent", ForeignIncarnation: "foreign-incarnation", UnreadableObject: "unreadable",
	LegacyUndecided: "legacy-undecided", Marked: "marked", StagedBySomeone: "staged-by-someone",
	Withheld: "withheld", Wait: "wait",
}

// String returns the stable name of the decision.
func (k Kind) String() string { return name(kindNames[:], uint8(k), "Kind") }

// RowKind is what a Published row is found to be. Its names are stable.
type RowKind uint8

const (
	// RowReplaced: publishing the split By replaces it, in the same call.
	RowReplaced RowKind = iota + 1
	// RowStale: the split By holds its documents, but is not published by this plan. Mark the row by
	// hand once By is known to be visible.
	RowStale
	// RowWithoutObject: its file is gone, and no known split replaced it.
	RowWithoutObject
)

var rowKindNames = [...]string{RowReplaced: "replaced", RowStale: "stale-published", RowWithoutObject: "published-without-object"}

// String returns the stable name of the kind.
func (k RowKind) String() string { return name(rowKindNames[:], uint8(k), "RowKind") }

// Flags are doubts about a decision.
type Flags uint8

const (
	// FlagYoungL0: a split without parents that nothing proves to have been published. If its
	// publication failed, its documents were read again into another split.
	FlagYoungL0 Flags = 1 << iota
	// FlagHiddenLink: the documents may be contained in another live split (the evidence) through a
	// split that no longer exists.
	FlagHiddenLink
	// FlagAmbiguous: two splits exclude each other and each holds documents that nothing else holds.
	FlagAmbiguous
	// FlagPossibleLoss: it holds documents of a parent that is gone and that no live split contains.
	FlagPossibleLoss
)

var flagNames = [...]string{"young-l0", "hidden-link", "ambiguous", "possible-loss"}

// Names returns the stable names of the flags that are set.
func (f Flags) Names() []string {
	var names []string
	for i, name := range flagNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

func name(names []string, i uint8, kind string) string {
	if int(i) < len(names) && names[i] != "" {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}
