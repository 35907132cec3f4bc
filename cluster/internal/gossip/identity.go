package gossip

import (
	"errors"
	"fmt"
	"net/netip"

	"holdfast/cluster/internal/wire"
)

// maxNameLength bounds node ids and cluster ids, in bytes. Node ids of real members have at most 63.
const maxNameLength = 255

var errNoHost = errors.New("must be the address of one host, with a port")

// CheckAddress refuses an address that other members could not send to.
func CheckAddress(address netip.AddrPort) error {
	ip := address.Addr()
	if !ip.IsValid() || ip.IsUnspecified() || ip.IsMulticast() || address.Port() == 0 {
		return fmt.Errorf("address %s: %w", address, errNoHost)
	}
	return nil
}

func checkSelf(self wire.Identity) error {
	if self.NodeID == "" || len(self.NodeID) > maxNameLength {
		return fmt.Errorf("the node id has %d bytes, must have 1 to %d", len(self.NodeID), maxNameLength)
	}
	if err := CheckAddress(self.Address); err != nil {
		return fmt.Errorf("the gossip address to advertise: %w", err)
	}
	if self.Address.Addr().Is4In6() {
		return fmt.Errorf("the gossip address to advertise: %s is an IPv4 address written as IPv6", self.Address)
	}
	return nil
}

// credible says whether a member may be believed to exist. Syns are sent to the addresses of members,
// so nobody may make the machine send elsewhere than to its peers.
func (m *Machine) credible(id wire.Identity) bool {
	return id.NodeID != "" && len(id.NodeID) <= maxNameLength && CheckAddress(id.Address) == nil && m.allowed(id.Address)
}

func (m *Machine) allowed(address netip.AddrPort) bool {
	return m.options.Allowed(address.Addr().Unmap().WithZone(""))
}

// route is an address in the one form that addresses are compared and sent to in.
func route(address netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
}
