package wire

import (
	"cmp"
	"fmt"
	"net/netip"
)

// Identity names one run of one member. Two runs of a process are two members to each other.
type Identity struct {
	// NodeID is the name of the member, the same for all of its runs.
	NodeID string
	// Generation orders the runs of a member: the time of the start, in nanoseconds since 1970.
	Generation uint64
	// Address is where the member wants to be gossiped to.
	Address netip.AddrPort
}

// Compare orders identities by node id, generation, address.
func (i Identity) Compare(other Identity) int {
	return cmp.Or(cmp.Compare(i.NodeID, other.NodeID), cmp.Compare(i.Generation, other.Generation), i.Address.Compare(other.Address))
}

// String is for logs.
func (i Identity) String() string {
	return fmt.Sprintf("%s/%d/%s", i.NodeID, i.Generation, i.Address)
}
