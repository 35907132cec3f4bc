// Package lineage decides which split files of a bucket make up an index when its metastore is lost,
// was restored from an old backup, or is suspected to have lost rows. It is pure: Decide turns objects
// and rows into a decision for each object, with a reason, the ids it rests on, and doubts as flags. It
// reads no file and no clock, and changes nothing.
//
// # The problem
//
// A split file is immutable. A merge writes a child that holds the documents of two or more parents; a
// delete rewrite writes a child that holds those of one parent without the deleted ones. Publishing a
// child shows it and marks its parents, in one step. The janitor later removes the files of marked
// splits, and of splits that were staged and not published for a day. So at any time the bucket holds
// live splits, replaced ones, and ones whose publication failed; and a file does not say which it is.
// What it does say, in its recovery entry, is the list of its parents.
//
// Showing a parent beside its child counts documents twice. Showing neither loses them. What was not
// published can still be published later, as nothing collects a file without a row; a duplicate can be
// removed until a merge has absorbed it. So what is doubtful is published as mature, which merges leave
// alone, and what cannot be decided is left to a person, with its file.
//
// # What is relied on
//
//	F1  At most one child of a split is ever published: that needs the parent Published and marks it,
//	    and no way leads back.
//	F2  Whoever is listed as a parent was published at some time: inputs are published splits.
//	F3  A merge holds exactly the documents of its parents, a rewrite a part of its parent's.
//	F4  Once a child is published, its parents are marked for good.
//	F5  Every Published row has its object.
//	F6  If the janitor was healthy (somebody has to attest that), an object older than the horizon was
//	    published at some time. Not so if its upload took so long that its row may have been given up
//	    meanwhile; such an object proves nothing by its age.
//
// From F1: of the published descendants of a split each replaces the one before it. They form a chain,
// and only its last link can be Published.
//
// # The procedure
//
// Scope (scope.go): the objects of one index and one incarnation, by default the greatest, and of its
// aliases. Others are foreign-incarnation, files that could not be understood are unreadable; neither
// is acted upon, and neither counts as absent.
//
// Edges (edges.go): metadata of child and parent must fit as a writer makes it. A misfit, or any other
// contradiction, puts everything connected with it aside as inconsistent.
//
// Ever published (published.go): what a list names, what a row says was published, and, attested, what
// is older than the horizon.
//
// Losers (published.go): the siblings of a published child are orphans. Two published children of one
// split contradict F1. If the rows are known to be complete, so is a split that was not published when
// its parent was marked. Then the parents of each published child are superseded.
//
// Frontier (frontier.go): splits with parents that nothing proves published or not. They hold all
// documents of their parents, so each may stand for them whether or not it was published; but of two
// that share a parent only one may. Among those that share parents, the selection is taken that covers
// most parents that are gone, since the documents of others can be had from the parents. Then come
// those that nobody else staged, rewrites before merges, so that deletions stay applied, the later
// rewrite, more parents, more documents, the smaller id. The rest are orphans. What is excluded though
// it covers a parent that is gone and that nothing chosen covers is ambiguous.
//
// Live set (live_set.go): what is no orphan, not superseded, and not marked. A gone parent of an orphan
// that no live split descends from is a possible-loss. Files without a recovery entry (legacy) have
// unknown parents: superseded if a list of a published or accepted child names them. Else their content
// tells (verdict.go), where package containment has compared it: live, superseded, or an orphan whose
// documents are in several. Without that they are live if nobody lists them and all of them are older than
// the horizon, attested; otherwise legacy-undecided.
//
// Doubts (hidden_link.go): young-l0 marks splits without parents that nothing proves published: had
// their publication failed, their documents would have been read again into others. hidden-link marks
// those whose documents may be in another live split through one that is gone.
//
// Rows (row_decision.go): rows from an old backup may still be Published for ancestors of a live split.
// They are replaced by the call that publishes it. A Published row without object that no live split
// descends from is reported. A Staged row is published only if this recovery staged it, or if the
// options allow to adopt it and it equals its object. Marked rows stay. Nothing is ever unmarked.
//
// Live mode (live_mode.go): with an intact metastore only objects without a row are judged, and none
// that is younger than the horizon or was seen so only once. One whose parent has a Published row was
// never published; one that a published split lists is superseded. What remains is withheld, unless
// the options say otherwise, since an intact metastore knows every split that was ever live.
//
// # Why it is right
//
// Assume A1: of no published split that is gone is a parent or an unpublished sibling left (no hidden
// links); A2: no split without parents that never was published is left; A3: none that was marked
// without a replacement.
//
// No document twice. Let x and y be live and have an ancestor in common. If both were published at some
// time, they are on one chain, say x before y. The next link after x is there by A1, and it is y or
// listed by the link after it; either way it is known as published or accepted, and x superseded. If y
// was not, it was accepted and its parents are superseded; x is on the chain of one of them, p. Before
// or at p, x is superseded. After p, the published child of p is there by A1 and competes with y for p:
// known as published it makes y an orphan, else only one of the two is accepted. If neither was
// published, their parents p and q are on one chain; the same split makes them compete, and different
// ones have a published link between them that makes one of the two an orphan.
//
// No document lost. Let y be truly Published. It is there by F5. It is an orphan only if an accepted
// split shares a parent with it, and then each of its parents is covered by an accepted split, or live
// itself, or reported. It is superseded only by an accepted split that holds all its documents, but for
// those that a delete task had named.
//
// Without A2 and A3 nothing in the bucket tells: hence young-l0 and recent-mark-risk. Without A1 all
// pairs that can share documents are flagged hidden-link on one side, by bounds that any chain through
// a gone split keeps: see findHiddenLinks. Deletions are weaker: documents that a delete task had named
// can come back where all that shows it is gone, so delete tasks are to be repeated after a recovery.
//
// The tests play random histories of an index against this and check each of these claims.
//
// # Stable words
//
// Decisions: see Kind. Reasons: see Reason. Flags: young-l0, hidden-link, ambiguous, possible-loss.
// Findings: see FindingCode. Their names may be stored and compared.
package lineage
