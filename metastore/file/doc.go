// Package file is a metastore.Store on a directory or a bucket: a commit log made of objects that are
// created once and never changed.
//
// Objects, below the root of the store:
//
//	_log/<version>.json                 the set of index ids, the index templates, the cluster identity
//	_snapshot/<version>.json
//	<index id>/_log/<version>.json      everything about one index
//	<index id>/_snapshot/<version>.json
//	<index id>/_import/<version>-<write id>.json  an index that one entry brought in as a whole
//
// A version has 20 digits. Creating the entry of version n+1, which succeeds for one writer only, is
// the commit; whoever loses reads the entry that won, decides again on the new state and tries again.
// So any number of processes may write one store, and no update is lost. An entry says what changed,
// never the whole state, so a commit costs what it changes. State is changed by applying entries and
// in no other way.
//
// A snapshot holds the state after the entry of its version, in the layout of Quickwit's own
// "<index id>/metastore.json", so that exporting an index is a copy. Loading a log reads the newest
// readable snapshot and the entries behind it.
//
// # Removed entries
//
// Entries are removed when two snapshots cover them. That is a danger to a process that slept
// meanwhile: at version n it would find no entry n+1, think itself up to date, and be allowed to
// create it. Three rules prevent that:
//
//   - entries are removed one after the other in ascending order, and the newest entry stays;
//   - a process only removes an entry if it has known the one behind it for at least removalAge;
//   - a process that has not confirmed for confirmAge that its version is the newest one reads its own
//     newest entry again after it looked at, or created, the next one. If that is gone, or is
//     another one, the process starts over from the newest snapshot. Before the first entry it looks
//     for the mark "_log/trimmed" instead, which is created before anything is removed.
//
// That entry n is gone then proves that entry n+1 was not this process's doing, if it began to create it less than
// removalAge ago: n stays for as long behind the first n+1. If it took longer, the outcome is unknown.
package file
