package cluster

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"time"

	"holdfast/cluster/internal/wire"
)

const (
	// DefaultClusterID is the cluster that the peer's nodes belong to when nothing else was set.
	DefaultClusterID = "quickwit-default-cluster"

	defaultInterval       = time.Second
	defaultResolve        = time.Minute
	defaultHealthInterval = 5 * time.Second
)

// Options configures a Member. Listen and GRPCAddress are required.
type Options struct {
	// ClusterID names the cluster; all nodes have the same. Empty means DefaultClusterID.
	ClusterID string
	// NodeID names the member; no other one may have it, and it must stay the same for as long as
	// GRPCAddress does. Empty means DefaultNodeID of GRPCAddress.
	NodeID string

	// Listen is where gossip is received and sent from. Port 0 chooses one.
	Listen netip.AddrPort
	// Advertise is where other members reach Listen. The zero value means Listen, which then must name
	// one host.
	Advertise netip.AddrPort
	// GRPCAddress is where other nodes reach the metastore.
	GRPCAddress netip.AddrPort
	// ReadReplica announces a metastore that refuses changes: nodes that are set to use read replicas
	// send it reads, and others do not use it.
	ReadReplica bool
	// Seeds are asked for the other members: HOST, HOST:PORT, IP or IP:PORT. Without a port they have
	// that of Advertise. Names are looked up again every minute, and all of their addresses are used.
	Seeds []string
	// PeerNetworks are the only networks whose datagrams are read, and whose members are believed in.
	// Empty means the networks that are not routed in the internet.
	PeerNetworks []netip.Prefix

	// Interval is the time between two rounds of gossip. 0 means 1 s, what other members expect.
	Interval time.Duration
	// Protocol is the gossip protocol version of own requests, 0 or 1; answers follow the request. Not
	// every node knows version 1.
	Protocol int
	// NoRelay keeps the member from passing on the keys of other members.
	NoRelay bool

	// LastGeneration is the generation of the member's last run. 0 means unknown; the clock must then
	// not have been set back.
	LastGeneration uint64
	// Remember is given each generation before it is used, so that it can be the next run's
	// LastGeneration. An error keeps the member from starting. Nil remembers nothing.
	Remember func(generation uint64) error

	// HealthInterval is the time between two checks of FollowHealth. 0 means 5 s.
	HealthInterval time.Duration
	// Resolver looks up the names among Seeds. Nil means the system's.
	Resolver Resolver
	// Logger receives what an operator should look at. Nil discards it.
	Logger *slog.Logger
}

// withDefaults fills in the defaults that do not depend on the socket, and refuses values that cannot work.
func (o Options) withDefaults() (Options, error) {
	if o.ClusterID == "" {
		o.ClusterID = DefaultClusterID
	}
	if !o.Listen.IsValid() {
		return o, fmt.Errorf("there is no address to listen on for gossip")
	}
	var err error
	if o.GRPCAddress, err = advertised("gRPC", o.GRPCAddress, netip.AddrPort{}); err != nil {
		return o, err
	}
	if o.NodeID == "" {
		o.NodeID = DefaultNodeID(o.GRPCAddress)
	}
	if err := CheckNodeID(o.NodeID); err != nil {
		return o, err
	}
	if o.Protocol != int(wire.V0) && o.Protocol != int(wire.V1) {
		return o, fmt.Errorf("the gossip protocol version is %d, must be 0 or 1", o.Protocol)
	}
	for _, network := range o.PeerNetworks {
		if !network.IsValid() {
			return o, fmt.Errorf("a peer network is no network")
		}
	}
	if len(o.PeerNetworks) == 0 {
		o.PeerNetworks = privateNetworks()
	} else {
		o.PeerNetworks = slices.Clone(o.PeerNetworks)
	}
	for _, d := range []struct {
		name    string
		value   *time.Duration
		instead time.Duration
	}{{"Interval", &o.Interval, defaultInterval}, {"HealthInterval", &o.HealthInterval, defaultHealthInterval}} {
		if *d.value < 0 {
			return o, fmt.Errorf("%s is %s, must be positive", d.name, *d.value)
		}
		if *d.value == 0 {
			*d.value = d.instead
		}
	}
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}
