// Package cluster makes a metastore a member of a cluster of the peer's nodes, which look for their
// metastore by gossip (chitchat over UDP) and nowhere else.
//
// A Member announces the role metastore, the address of the gRPC server, and whether calls should be
// sent there. Nodes that see it live and ready use it, within seconds; they stop within about a second
// when it says that it is not ready, and some seconds after it has gone silent.
//
// Gossip is not authenticated. Whoever can send datagrams to the port can add members: let only the
// nodes of the cluster reach it.
package cluster
