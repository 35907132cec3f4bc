package cluster

import (
	"fmt"
	"net/netip"

	"holdfast/cluster/internal/gossip"
)

// ParseAddress reads IP:PORT or [IPv6]:PORT. A host name is refused: other members take addresses only.
func ParseAddress(text string) (netip.AddrPort, error) {
	address, err := netip.ParseAddrPort(text)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%q is not IP:PORT; the nodes of a cluster take no host names", text)
	}
	return netip.AddrPortFrom(address.Addr().Unmap(), address.Port()), nil
}

// advertised returns the address to announce: the one that was set, or the one that is listened on if it
// names one host.
func advertised(what string, set, listen netip.AddrPort) (netip.AddrPort, error) {
	address := set
	if !address.IsValid() {
		address = listen
	}
	address = netip.AddrPortFrom(address.Addr().Unmap().WithZone(""), address.Port())
	if err := gossip.CheckAddress(address); err != nil {
		return address, fmt.Errorf("the %s address to announce: %w; set it to how other nodes reach this one", what, err)
	}
	return address, nil
}

// privateNetworks are the networks of addresses that are not routed in the internet.
func privateNetworks() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"),
		netip.MustParsePrefix("10.0.0.0/8"),
		netip.MustParsePrefix("172.16.0.0/12"),
		netip.MustParsePrefix("192.168.0.0/16"),
		netip.MustParsePrefix("100.64.0.0/10"),
		netip.MustParsePrefix("169.254.0.0/16"),
		netip.MustParsePrefix("::1/128"),
		netip.MustParsePrefix("fc00::/7"),
		netip.MustParsePrefix("fe80::/10"),
	}
}

// within says whether an address is in one of the networks.
func within(networks []netip.Prefix, ip netip.Addr) bool {
	for _, network := range networks {
		if network.Contains(ip) {
			return true
		}
	}
	return false
}
