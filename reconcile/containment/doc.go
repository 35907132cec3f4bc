// Package containment decides which of an index's split files hold the documents of others, from what is
// in them. It is for files without a recovery entry, which do not say what they replaced, beside files
// that do. It is pure: Decide turns what is known of the files into verdicts, each with the proof it rests
// on, and asks for what it would have to know besides. It reads no file and no clock.
//
// # What is relied on
//
//	A merge holds the documents of its parents one parent after the other, byte for byte, whatever was
//	merged before. So whatever was merged into a split, at any depth, is in it as one run. A parent with
//	six blocks or more has its blocks copied as they are.
//	A rewrite for delete tasks holds the documents of its parent but the deleted ones, in their order, and
//	has a greater opstamp.
//	What came from an indexer has no parents and holds nobody; its terms tell it from a merge.
//
// # Evidence, the cheapest first
//
//	What cannot be (exclude.go): more documents, another schema, times or tags outside, made later.
//	Blocks (blocks.go): the skip index of a store lists documents and bytes of each block. Where that of
//	one split occurs in that of another, the checksum of all blocks, which each file tells, proves it: what
//	the others do not cover is read and summed, and both sums must agree. If all is covered, nothing is read.
//	Documents (runs.go): small parents are looked for in what no block explains.
//
// # Decision
//
// Splits that hold one another, and rewrites with what they may have been made of, are one group. A group
// is clean if no rewrite is in it, the holders of each member hold one another, what a member holds nests
// or is disjoint, no two have equal content, and no member may be an unpublished sibling of another. Then
// what nobody holds is live and the rest is superseded (groups.go).
//
// Otherwise the documents of all members are read and numbered (doubtful.go, judge.go). Documents that an
// indexer stored twice tell nothing. By the others, members are chosen that hold each document once: those
// that alone hold one, then holders before what they hold and rewrites before their sources, each if it has
// a document that is not covered and shares none. What a rewrite dropped need not be covered. What is not
// chosen is superseded if a chain leads to what is live, else an orphan, with its documents in several. In
// the end each document is in a live split, or was dropped by a rewrite.
//
// Nothing is called superseded without proof. What is likely only, because documents repeat or were
// perhaps deleted, and what was not read, gets no row before a person accepts it.
package containment
