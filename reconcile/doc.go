// Package reconcile compares the split files in a bucket with the rows of a metastore, rebuilds the rows
// that are lost, and says what nothing can prove.
//
// For each index it
//
//  1. lists the objects of the index's directory, and then the rows of the index (in this order, so
//     that what is uploaded meanwhile does not look lost),
//  2. reads the footer of each split file, in parallel, slower when the storage asks for it; a journal
//     file spares the reads of unchanged objects in later runs,
//  3. decides about every object with package lineage, for the whole index before anything is written,
//  4. in Run only: writes the rows of the live splits, as told below,
//  5. reports: one JSON line for each object and each finding, and a summary.
//
// # The decision
//
// Package lineage goes through these steps, over plain values:
//
//   - ever published: what a recovery entry lists as a parent, what a row says, and, if the janitor is
//     attested, what is older than the horizon;
//   - losers: a split is replaced once, so the other children of a parent whose published child is known
//     are orphans; two that were published contradict each other, and nothing of their family is written;
//   - superseded: the parents of whatever was published;
//   - frontier: of young splits that nothing lists and that share parents, one set without overlap is
//     accepted, what holds documents that nothing else holds first; its parents are superseded;
//   - live: what is left, but for splits whose rows are marked; orphans whose documents are nowhere else
//     are reported;
//   - legacy files: the list of a newer file, their age, or their content (package containment) decides;
//   - doubts: live splits that may never have been published, or may be in another one through a file that
//     is gone, are published as mature;
//   - rows of an older backup: a live split replaces those of its ancestors that are still Published.
//
// # Writing
//
// Before the first batch, rows that an earlier run left Staged for 12 hours or more are staged again, so
// that no janitor chooses them meanwhile. Only rows of this recovery are, by its journal. Then, batch by
// batch:
//
//   - look: each file must still be the one that was read, and the rows as the plan found them;
//   - stage what has no row, create-only; rows of others are left alone;
//   - publish what was staged by this recovery, now or in an earlier run, and mark in the same call the rows
//     that it replaces; after an error the rows tell what became of it;
//   - look at each file again: what went away or was replaced while its row was published is reported.
//
// At the end it waits for what other workers staged to be published by them.
//
// Not done here: the freeze, the choice of the reference time without an attestation, marking rows that
// nothing replaces, and all that is lost besides splits. A person does these with docs/recovery.md.
//
// Nothing here deletes an object, changes a row that exists but for the time of rows that it staged
// itself, or publishes a row that somebody else staged (unless Options.Lineage.AdoptStaged says that the
// index is frozen and whose they are). Rows are marked for deletion only as the replaced splits of a
// publication. A run can be killed at any point and repeated, and any number of workers may run at once.
// But while it is dead, what it staged and did not publish is at the mercy of the janitor after a day; with
// the journal, the next run reports what that one took.
package reconcile
