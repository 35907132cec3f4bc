// Package postgres is the metastore.Store on PostgreSQL 12 or later, in the schema of Quickwit's metastore, so
// that both can run on one database.
//
// # Transactions
//
// A mutating call is one implicit transaction that is sent in one round trip (create-only staging reads before it,
// and ends there if all splits exist): the statements of a
// call travel together and the server commits when it has run them all. So a call that is cancelled, or whose
// connection breaks, leaves nothing half done: it happened or it did not, and which of the two the
// caller cannot know. A call that the server aborted because of a deadlock or a serialization failure is repeated
// a few times.
//
// Calls that decide on what they read under a lock take a second round trip: those that change the metadata of an index,
// and publishes with a checkpoint delta.
//
// The calls that come most often share transactions when many come at a time on one index: publishes with a checkpoint
// delta, which exclude each other there anyway, and calls that stage or publish one split each. The first begin at once, by
// themselves; what comes while they run waits in this process and goes into one transaction together. That of publishes
// with a delta locks and reads the index row, the shards and the splits of all of them, decides each in turn on what the
// ones before leave, and writes the sum. That of stages or of publishes of one split makes all or none. If none, each is
// then made by itself, so that no call fails, or waits for long, because of another.
//
// No statement needs a session: there are no named prepared statements unless Options asks for them, no
// temporary objects and no settings, so a transaction-pooling proxy may stand in front of the server; the
// tests run through PgBouncer too.
//
// # Lock order
//
// Whoever locks more than one row locks them in this order: the index row, then shards by shard id, then splits by
// split id, all compared as bytes. A call that publishes one split by itself locks nothing else. One that stages one split
// by itself locks the index row behind it, by the foreign key, if the split is new: a row that nobody sees yet, so nobody
// who holds the index row waits for it. Any other call that changes splits takes a key-share lock on the index row first, which
// conflicts neither with another such call nor with the foreign key checks of inserts, but with DeleteIndex
// and with the peer's publishes. Several splits are locked by a read that is ordered by split id, or
// inserted in that order. So are several shards, by index uid, source id and shard id. The calls that open shards and that
// add or delete a source lock the index row first, against each other too; the other calls on shards lock shards only.
// The table of delete tasks comes before all rows: who adds a task or deletes an index locks it first, and
// RaiseDeleteOpstampFloor locks it against them, and no row.
//
// Under READ COMMITTED each statement sees what was committed when it began, also if it then waits for a lock. The
// index row is therefore locked by a statement of its own where a later one relies on what it reads, and a
// statement that locks splits works on the row versions that the lock gave it.
//
// # Plans
//
// Statements find splits by the primary key, one look-up for each id, also where the planner has no statistics, as
// after a restore. Prepared statements are planned for each call: a plan made on the empty table would stay.
//
// # Times
//
// Columns hold UTC without a zone. They are written in whole seconds, and filters compare whole
// seconds, as the peer wrote microseconds into the same columns.
package postgres
