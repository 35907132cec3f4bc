package containment

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Result is what the content proves.
type Result struct {
	// Verdicts holds one for each object, sorted by id.
	Verdicts []Verdict
	// Flags are the doubts, sorted by kind and ids.
	Flags []Flag
	// Needs is what has to be read for a better result, sorted by bytes: as long as there is any, the
	// verdicts are not final. Read it, or refuse it, and decide again.
	Needs []Need
}

// Verdict is what the content proves about one object.
type Verdict struct {
	ID   string
	Kind Kind
	// By are the objects that the verdict rests on.
	By []string
	// Proof is what proves it.
	Proof Proof
}

// Kind is a verdict. Its names are stable.
type Kind uint8

// The verdicts.
const (
	// Live: it holds documents that no other live object holds.
	Live Kind = iota + 1
	// Superseded: a live object, or one that was replaced since, holds its documents. By is that which
	// holds or rewrote it.
	Superseded
	// Orphan: all its documents are in live objects, but none holds it as a whole. By are those.
	Orphan
	// Likely: nothing proves what is likely; see the flag. It gets no row before a person decides.
	Likely
	// Unread: what would decide it was not read. It gets no row before a person decides.
	Unread
)

var kindNames = [...]string{Live: "live", Superseded: "superseded", Orphan: "orphan", Likely: "likely", Unread: "unread"}

// String returns the stable name of the verdict.
func (k Kind) String() string { return kindNames[k] }

// Proof is the kind of evidence that a verdict rests on. Its names are stable.
type Proof uint8

// The proofs, from the cheapest to the dearest.
const (
	// NoProof: nothing was compared, as nothing can hold the object.
	NoProof Proof = iota
	// ByList: a recovery entry lists it.
	ByList
	// ByBlocks: the other one has the same blocks in the same order, and the checksum of all its blocks
	// is what it must be then.
	ByBlocks
	// ByDocuments: the documents were compared, byte for byte by their SHA-256.
	ByDocuments
	// ByRewrite: the documents were compared: the other one has some of them in the same order, and a
	// greater opstamp.
	ByRewrite
)

var proofNames = [...]string{NoProof: "nothing-holds-it", ByList: "list", ByBlocks: "blocks", ByDocuments: "documents", ByRewrite: "rewrite"}

// String returns the stable name of the proof.
func (p Proof) String() string { return proofNames[p] }

// Flag is a doubt.
type Flag struct {
	Kind FlagKind
	// ID is the id of the decision that a person may take; it is the same in every run on the same
	// objects.
	ID string
	// Splits are the objects concerned; what each place means is said with the kind.
	Splits []string
	// Docs is the number of documents concerned.
	Docs int
	// Accepted is set when the person has taken the decision.
	Accepted bool
}

// FlagKind is the kind of a doubt. Its names are stable.
type FlagKind string

// The doubts. Those with a decision say what accepting it does.
const (
	// Deleted: the second split is a rewrite of the first, and Docs documents of the first exist nowhere
	// else. Accepting it takes them for deleted.
	Deleted FlagKind = "deleted"
	// Order: the second split holds the first, which has a greater opstamp, and both were made at about the
	// same time: the second is a merge of the first, or the first a rewrite of the second. The second is
	// live. Accepting it takes it for a merge.
	Order FlagKind = "order"
	// Weak: the content of the first split repeats, and the second holds it at more places than there are
	// such splits: it may be one of them, or one more. Accepting it publishes the first.
	Weak FlagKind = "weak"
	// Undercount: all documents of the first split are in live ones, but Docs of them at fewer places than in
	// the first: they were indexed several times, and some were perhaps deleted. The others are what the
	// verdict rests on. Accepting it publishes the first.
	Undercount FlagKind = "undercount"
	// Unchecked: what would tell whether the first split is held by the others was not read. Accepting it
	// publishes the first.
	Unchecked FlagKind = "unchecked"
	// Piecemeal: the first split is an orphan, and the others, which are live, have its documents between
	// them. Docs documents of those that have had fewer delete tasks applied are not in the first: deletions
	// may have removed them.
	Piecemeal FlagKind = "piecemeal"
	// MayBeBack: the first split, to which delete tasks were applied, is in the second, which is live and may
	// have been made before it: what the deletions removed may be in the second.
	MayBeBack FlagKind = "may-be-back"
	// UncheckedOverlap: the first split is live, but what would tell whether it shares documents with others
	// was not read.
	UncheckedOverlap FlagKind = "unchecked-overlap"
	// DeletedOrLive: Docs documents of the first split are in the second and not in the third, its rewrite,
	// with which the first shares none. The first is live.
	DeletedOrLive FlagKind = "deleted-or-live"
	// Overlap: the first split is live and shares Docs documents with the others, which are live too.
	Overlap FlagKind = "overlap"
	// Repeat: the first split is live, and its documents occur in others that came from an indexer.
	Repeat FlagKind = "repeat"
	// Kept: the first split is live since Docs of its documents would be nowhere else.
	Kept FlagKind = "kept"
	// OldCover: the second split holds the first and is so old that the first should have been
	// collected: a deletion failed, or the documents were indexed twice.
	OldCover FlagKind = "old-cover"
	// Contradiction: the entry of the first split lists the second, whose documents it does not hold.
	Contradiction FlagKind = "contradiction"
)

// decisionID names a decision by what it is about.
func decisionID(kind FlagKind, splits []string) string {
	sum := sha256.Sum256([]byte(string(kind) + "\x00" + strings.Join(splits, "\x00")))
	return string(kind) + "-" + hex.EncodeToString(sum[:6])
}
