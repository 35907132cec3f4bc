package cluster

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
)

// CheckNodeID refuses a node id that the peer's nodes would not take: it must be a host name without
// dots, of at most 63 letters, digits and hyphens.
func CheckNodeID(id string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`).MatchString(id) {
		return fmt.Errorf("node id %q must be 1 to 63 letters, digits and hyphens, with no hyphen at the ends", id)
	}
	return nil
}

// DefaultNodeID returns the node id of a member whose gRPC server is at an address. Nodes that see an
// address under a second node id drop it when the first one goes away, so the id follows from the
// address: it is the same after a restart, and no other member has it.
func DefaultNodeID(grpc netip.AddrPort) string {
	ip := strings.NewReplacer(".", "-", ":", "-").Replace(grpc.Addr().Unmap().WithZone("").StringExpanded())
	return fmt.Sprintf("holdfast-%s-%d", ip, grpc.Port())
}
