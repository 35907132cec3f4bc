// Package reconcile compares the split files in a bucket with the rows of a metastore, rebuilds the
// rows that are lost, and says what nothing can prove.
//
// For each index it
//
//  1. lists the objects of the index's directory, and then the rows of the index (in this order, so
//     that what is uploaded meanwhile does not look lost),
//  2. reads the footer of each split file, in parallel, slower when the storage asks for it; a journal
//     file spares the reads of unchanged objects in later runs,
//  3. decides about every object with package lineage, for the whole index before anything is written,
//  4. in Run only: stages what is missing in create-only mode and publishes what it staged itself,
//     batch by batch,
//  5. reports: one JSON line for each object and each finding, and a summary.
//
// Nothing here deletes an object, changes a row that exists, or publishes a row that somebody else
// staged (unless Options.Lineage.AdoptStaged says that the index is frozen and whose they are). Rows
// are marked for deletion only as the replaced splits of a publication. A run can be killed at any
// point and repeated, and any number of workers may run at once.
package reconcile
