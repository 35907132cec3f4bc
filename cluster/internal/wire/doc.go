// Package wire reads and writes the datagrams of chitchat, the gossip protocol by which the nodes of
// a cluster find each other: protocol versions 0 and 1.
//
// A datagram is one message:
//
//	offset  size  value
//	0       2     magic, the bytes 53 B0
//	2       1     protocol version: 0 or 1
//	3       1     type: 0 Syn, 1 SynAck, 2 Ack, 3 BadCluster
//	4             Syn: digest, cluster id; SynAck: digest, delta; Ack: delta; BadCluster: nothing
//
// Integers are little-endian. A string is a length of two bytes and so many bytes of UTF-8. The
// version decides how the digest is written, and nothing else.
//
// Readers accept any bytes: they answer with a message or an error, never panic, and allocate at
// most some tens of MiB, whatever the datagram claims.
package wire
