package gossip

// Counters counts what a machine did and met, since its start.
type Counters struct {
	// Rounds is the number of gossip rounds.
	Rounds uint64
	// Received counts the datagrams that arrived, whatever became of them, and their bytes.
	Received, ReceivedBytes uint64
	// Sent counts the datagrams that were made to be sent, and their bytes.
	Sent, SentBytes uint64

	// RefusedNetwork counts datagrams from addresses that are not allowed. They are not answered.
	RefusedNetwork uint64
	// Malformed counts datagrams that are no messages. They are not answered.
	Malformed uint64
	// Unasked counts answers from addresses that nothing was sent to. They are not believed.
	Unasked uint64
	// ForeignCluster counts Syns of members of other clusters.
	ForeignCluster uint64
	// BadCluster counts answers of members of other clusters to own Syns.
	BadCluster uint64

	// Deltas counts changes of one member that were taken in; Resets those of them for which all keys
	// of the member were dropped first.
	Deltas, Resets uint64
	// RejectedDeltas counts changes of one member that did not fit what is known: duplicates and what
	// the network delayed.
	RejectedDeltas uint64

	// RefusedMembers counts digest entries of members that cannot exist or for which there is no room.
	RefusedMembers uint64
	// OverLimit counts changes of one member for which there is no room.
	OverLimit uint64
	// Evicted counts dead members that were forgotten early to make room.
	Evicted uint64
	// CutDigests counts digests that did not fit in a datagram and left members out.
	CutDigests uint64
	// IdentityConflicts counts signs that another process runs as this member.
	IdentityConflicts uint64
	// Unwritable counts messages that could not be written, which is a bug.
	Unwritable uint64
}

// Plus returns the sum of the counters of two machines.
func (c Counters) Plus(other Counters) Counters {
	c.Rounds += other.Rounds
	c.Received += other.Received
	c.ReceivedBytes += other.ReceivedBytes
	c.Sent += other.Sent
	c.SentBytes += other.SentBytes
	c.RefusedNetwork += other.RefusedNetwork
	c.Malformed += other.Malformed
	c.Unasked += other.Unasked
	c.ForeignCluster += other.ForeignCluster
	c.BadCluster += other.BadCluster
	c.Deltas += other.Deltas
	c.Resets += other.Resets
	c.RejectedDeltas += other.RejectedDeltas
	c.RefusedMembers += other.RefusedMembers
	c.OverLimit += other.OverLimit
	c.Evicted += other.Evicted
	c.CutDigests += other.CutDigests
	c.IdentityConflicts += other.IdentityConflicts
	c.Unwritable += other.Unwritable
	return c
}
