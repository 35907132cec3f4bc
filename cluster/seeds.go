package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// maxSeedAddresses bounds the addresses of one name that are used.
const maxSeedAddresses = 256

// Resolver finds the addresses of host names; *net.Resolver is one. The network is "ip", "ip4" or "ip6".
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// seed is a place to ask for members: an address, or a name that may have several.
type seed struct {
	text    string
	address netip.AddrPort // valid for a seed that is no name
	host    string
	port    uint16
	// resolved are the addresses that the name had last.
	resolved []netip.AddrPort
}

// parseSeed reads an IP address or a host name, with a port or without.
func parseSeed(text string, defaultPort uint16) (seed, error) {
	s := seed{text: text, port: defaultPort}
	host := text
	if withPort, port, err := net.SplitHostPort(text); err == nil {
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil || number == 0 {
			return s, fmt.Errorf("seed %q: the port must be 1 to 65535", text)
		}
		host, s.port = withPort, uint16(number)
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.IsUnspecified() || ip.IsMulticast() {
			return s, fmt.Errorf("seed %q is not the address of one host", text)
		}
		s.address = netip.AddrPortFrom(ip.Unmap(), s.port)
		return s, nil
	}
	if host == "" || len(host) > 253 || strings.ContainsAny(host, ":/[]@ \t\r\n,") {
		return s, fmt.Errorf("seed %q must be HOST, HOST:PORT, IP or IP:PORT", text)
	}
	s.host = host
	return s, nil
}

func parseSeeds(texts []string, defaultPort uint16) ([]seed, error) {
	var seeds []seed
	for _, text := range texts {
		s, err := parseSeed(text, defaultPort)
		if err != nil {
			return nil, err
		}
		seeds = append(seeds, s)
	}
	return seeds, nil
}

// resolve looks the names up again and returns all addresses. A name that cannot be looked up keeps the
// addresses that it had, and is in the error.
func resolve(ctx context.Context, resolver Resolver, network string, seeds []seed) ([]netip.AddrPort, error) {
	var addresses []netip.AddrPort
	var failures []error
	for i := range seeds {
		s := &seeds[i]
		if s.address.IsValid() {
			addresses = append(addresses, s.address)
			continue
		}
		found, err := resolver.LookupNetIP(ctx, network, s.host)
		if err != nil {
			failures = append(failures, fmt.Errorf("look up seed %q: %w", s.text, err))
		} else {
			s.resolved = s.resolved[:0]
			for _, ip := range found[:min(len(found), maxSeedAddresses)] {
				s.resolved = append(s.resolved, netip.AddrPortFrom(ip.Unmap(), s.port))
			}
		}
		addresses = append(addresses, s.resolved...)
	}
	slices.SortFunc(addresses, netip.AddrPort.Compare)
	return slices.Compact(addresses), errors.Join(failures...)
}
