// Package gossip is a member of a chitchat cluster apart from sockets and clock: what it knows, and
// what it says and when.
//
// A Machine is given the time and the datagrams that arrive, and returns the datagrams to send. It
// starts nothing, waits for nothing and draws from the source of randomness that it was given, so that
// whole clusters can be run in virtual time on a network that loses and reorders what it carries.
//
// Each member owns versioned keys, and copies of the keys of the others. Once in a round it tells some
// members what it has of everyone (a digest, in a Syn); they answer with what they have and with what
// it lacks (SynAck), and it answers with what they lack (Ack). A counter that each member raises in
// each round, the heartbeat, travels in digests and tells who is alive.
//
// Nothing here is authenticated. Whatever arrives is checked, bounded and counted.
package gossip
