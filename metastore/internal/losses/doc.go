// Package losses finds what a document of the peer's says that the document written in its place does not say: members
// that nobody knows, members that are given again, and values that became others.
//
// It looks at the two texts and knows nothing of the parsers between them. What a conversion may do without
// anything being lost, such as the upgrade of an old version, is written down as the [Shape] of the document. What
// is not allowed there is a loss, and [Ledger] counts it.
package losses
