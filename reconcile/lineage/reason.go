package lineage

// Reason says which rule led to a decision. Its names are stable.
type Reason uint8

// The reasons. The evidence of a decision is described with its reason.
const (
	// ReasonUnlisted (publish): it has no parents, and nothing replaced it.
	ReasonUnlisted Reason = iota + 1
	// ReasonProvenByList (publish): a split that never was published lists it, so it was published;
	// evidence: that split.
	ReasonProvenByList
	// ReasonProvenByAge (publish): it is older than the horizon, and nothing replaced it.
	ReasonProvenByAge
	// ReasonOnlyChild (publish): it replaces its parents, and nothing competes for them.
	ReasonOnlyChild
	// ReasonChosen (publish): of the splits that compete for a parent it is the one to keep; evidence:
	// those it excludes.
	ReasonChosen
	// ReasonLegacyOld (publish): no list names it, and all files without a recovery entry are older
	// than the horizon.
	ReasonLegacyOld
	// ReasonRow (already-published, marked): its row says so.
	ReasonRow
	// ReasonReplaced (superseded): evidence: a child that was published.
	ReasonReplaced
	// ReasonReplacedByAccepted (superseded): evidence: a child that this plan takes for published.
	ReasonReplacedByAccepted
	// ReasonSiblingPublished (orphan): evidence: the child of the same parent that was published.
	ReasonSiblingPublished
	// ReasonSiblingChosen (orphan): evidence: the chosen splits that share a parent with it.
	ReasonSiblingChosen
	// ReasonParentMarked (orphan): evidence: a parent whose row was marked while this split was not
	// published, which makes its publication impossible.
	ReasonParentMarked
	// ReasonParentPublished (orphan in live mode, inconsistent if a list contradicts it): evidence: a
	// parent whose row is Published.
	ReasonParentPublished
	// ReasonTwoPublishedChildren (inconsistent): two children of one split were both published;
	// evidence: the parent and the children.
	ReasonTwoPublishedChildren
	// ReasonEdgeIndex (inconsistent): parent and child are of different index UIDs; evidence: the
	// other end. The same for the reasons below.
	ReasonEdgeIndex
	// ReasonEdgeSource (inconsistent): parent and child are of different sources.
	ReasonEdgeSource
	// ReasonEdgeDocMapping (inconsistent): parent and child are of different doc mappings.
	ReasonEdgeDocMapping
	// ReasonEdgeMergeOps (inconsistent): the child's number of merge operations is impossible.
	ReasonEdgeMergeOps
	// ReasonEdgeDocs (inconsistent): the child's number of documents is impossible.
	ReasonEdgeDocs
	// ReasonEdgeOpstamp (inconsistent): a delete rewrite with an opstamp not above its parent's.
	ReasonEdgeOpstamp
	// ReasonSelfParent (inconsistent): the split lists itself.
	ReasonSelfParent
	// ReasonConnected (inconsistent): it is related to an inconsistent split; evidence: that split and
	// the other end of the contradiction.
	ReasonConnected
	// ReasonOtherIndex (foreign-incarnation): it is of another index.
	ReasonOtherIndex
	// ReasonOtherIncarnation (foreign-incarnation): it is of another incarnation of the index.
	ReasonOtherIncarnation
	// ReasonUnreadable (unreadable): no more is known.
	ReasonUnreadable
	// ReasonLegacyUnlinked (legacy-undecided): no list names it, and it may be anyone's parent or child.
	ReasonLegacyUnlinked
	// ReasonContentLive (publish): no list names it, and no live split holds its documents.
	ReasonContentLive
	// ReasonContentHeld (superseded): evidence: the split that holds its documents, byte for byte.
	ReasonContentHeld
	// ReasonContentPiecemeal (orphan): evidence: the live splits that hold its documents between them.
	ReasonContentPiecemeal
	// ReasonContentLikely (legacy-undecided): evidence: the splits that are likely to hold its documents,
	// or to have been made of it.
	ReasonContentLikely
	// ReasonContentNotRead (legacy-undecided): evidence: the splits that may hold its documents; what
	// would tell was not read.
	ReasonContentNotRead
	// ReasonRowStaged (staged-by-someone): a row that equals the object is Staged.
	ReasonRowStaged
	// ReasonRowStagedDiffers (staged-by-someone): a row that differs from the object is Staged.
	ReasonRowStagedDiffers
	// ReasonPolicyYoungL0 (withheld): Options.YoungL0 says so.
	ReasonPolicyYoungL0
	// ReasonPolicyHiddenLink (withheld): Options.HiddenLink says so.
	ReasonPolicyHiddenLink
	// ReasonLiveDrift (withheld): an intact metastore does not know it, and nothing explains it.
	ReasonLiveDrift
	// ReasonYoung (wait): it is younger than the horizon.
	ReasonYoung
	// ReasonSeenOnce (wait): only one scan found it without a row.
	ReasonSeenOnce
)

var reasonNames = [...]string{
	ReasonUnlisted: "unlisted", ReasonProvenByList: "proven-by-list", ReasonProvenByAge: "proven-by-age",
	ReasonOnlyChild: "only-child", ReasonChosen: "chosen", ReasonLegacyOld: "legacy-old", ReasonRow: "row",
	ReasonReplaced: "replaced", ReasonReplacedByAccepted: "replaced-by-accepted",
	ReasonSiblingPublished: "sibling-published", ReasonSiblingChosen: "sibling-chosen",
	ReasonParentMarked: "parent-marked", ReasonParentPublished: "parent-published",
	ReasonTwoPublishedChildren: "two-published-children", ReasonEdgeIndex: "edge-index",
	ReasonEdgeSource: "edge-source", ReasonEdgeDocMapping: "edge-doc-mapping", ReasonEdgeMergeOps: "edge-merge-ops",
	ReasonEdgeDocs: "edge-docs", ReasonEdgeOpstamp: "edge-opstamp", ReasonSelfParent: "self-parent",
	ReasonConnected: "connected", ReasonOtherIndex: "other-index", ReasonOtherIncarnation: "other-incarnation",
	ReasonUnreadable: "unreadable", ReasonLegacyUnlinked: "legacy-unlinked",
	ReasonContentLive: "content-live", ReasonContentHeld: "content-held", ReasonContentPiecemeal: "content-piecemeal",
	ReasonContentLikely: "content-likely", ReasonContentNotRead: "content-not-read", ReasonRowStaged: "row-staged",
	ReasonRowStagedDiffers: "row-staged-differs", ReasonPolicyYoungL0: "policy-young-l0",
	ReasonPolicyHiddenLink: "policy-hidden-link", ReasonLiveDrift: "live-drift", ReasonYoung: "young",
	ReasonSeenOnce: "seen-once",
}

// String returns the stable name of the reason.
func (r Reason) String() string { return name(reasonNames[:], uint8(r), "Reason") }
