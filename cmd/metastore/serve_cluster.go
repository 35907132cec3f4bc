package main

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/spf13/pflag"

	"holdfast/cluster"
	"holdfast/cmd/metastore/internal/tlsfiles"
)

// clusterFlags are the flags of serve about the cluster that the metastore is a member of.
type clusterFlags struct {
	clusterID, nodeID       string
	gossip, gossipAdvertise string
	grpcAdvertise           string
	peerSeeds, networks     []string
	gossipInterval          time.Duration
	protocolVersion         int
	generationFile          string
	options                 cluster.Options // what validate makes of them
}

func (f *clusterFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.gossip, "gossip", "", "IP:PORT to gossip at over UDP, as a member of a Quickwit cluster; empty: no cluster")
	flags.StringVar(&f.clusterID, "cluster-id", cluster.DefaultClusterID, "the cluster, the same on all of its nodes")
	flags.StringSliceVar(&f.peerSeeds, "peer-seeds", nil, "nodes to ask for the other members: HOST, HOST:PORT, IP or\nIP:PORT, separated by commas")
	flags.StringVar(&f.nodeID, "node-id", "", "name of this node in the cluster; empty: made of the gRPC address")
	flags.StringVar(&f.gossipAdvertise, "gossip-advertise", "", "IP:PORT at which other nodes reach --gossip; empty: the same")
	flags.StringVar(&f.grpcAdvertise, "grpc-advertise", "", "IP:PORT at which other nodes reach --listen; empty: the same")
	flags.StringSliceVar(&f.networks, "gossip-peer-networks", nil, "networks such as 10.0.0.0/8 that all nodes are in; datagrams\nfrom elsewhere are dropped; empty: private networks")
	flags.StringVar(&f.generationFile, "gossip-generation-file", "", "file that remembers the last start, in case the clock is set\nback; empty: none")
	flags.DurationVar(&f.gossipInterval, "gossip-interval", time.Second, "time between two rounds of gossip")
	flags.IntVar(&f.protocolVersion, "gossip-protocol-version", 0, "version of gossip requests, 0 or 1; Quickwit up to 0.9 knows 0 only")
}

// validate checks the flags, given the address of the gRPC server as it was set.
func (f *clusterFlags) validate(listen string) error {
	if f.gossip == "" {
		return nil
	}
	o := cluster.Options{
		ClusterID: f.clusterID,
		NodeID:    f.nodeID,
		Seeds:     f.peerSeeds,
		Interval:  f.gossipInterval,
		Protocol:  f.protocolVersion,
	}
	for _, address := range []struct {
		flag, text string
		to         *netip.AddrPort
	}{{"gossip", f.gossip, &o.Listen}, {"gossip-advertise", f.gossipAdvertise, &o.Advertise}, {"grpc-advertise", f.grpcAdvertise, &o.GRPCAddress}} {
		if address.text == "" {
			continue
		}
		parsed, err := cluster.ParseAddress(address.text)
		if err != nil {
			return usagef("--%s: %w", address.flag, err)
		}
		*address.to = parsed
	}
	if host, _, err := net.SplitHostPort(listen); f.grpcAdvertise == "" && (err != nil || !isOneHost(host)) {
		return usagef("--grpc-advertise is missing: other nodes need one IP:PORT, which --listen %s is not", listen)
	}
	if f.gossipAdvertise == "" && !isOneHost(o.Listen.Addr().String()) {
		return usagef("--gossip-advertise is missing: other nodes need one IP:PORT, which --gossip %s is not", f.gossip)
	}
	for _, text := range f.networks {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return usagef("--gossip-peer-networks: %q is no network such as 10.0.0.0/8", text)
		}
		o.PeerNetworks = append(o.PeerNetworks, network.Masked())
	}
	switch {
	case f.clusterID == "":
		return usagef("--cluster-id is empty")
	case f.gossipInterval < 10*time.Millisecond:
		return usagef("--gossip-interval is %s, must be at least 10ms", f.gossipInterval)
	case f.protocolVersion != 0 && f.protocolVersion != 1:
		return usagef("--gossip-protocol-version is %d, must be 0 or 1", f.protocolVersion)
	}
	if f.nodeID != "" {
		if err := cluster.CheckNodeID(f.nodeID); err != nil {
			return usagef("--node-id: %w", err)
		}
	}
	f.options = o
	return nil
}

// isOneHost says whether text is an IP address that others can connect to.
func isOneHost(text string) bool {
	ip, err := netip.ParseAddr(text)
	return err == nil && !ip.IsUnspecified()
}

// join returns how the node joins the cluster, nil if there is to be none. config is that of the gRPC
// server, nil without TLS.
func (f *clusterFlags) join(logger *slog.Logger, config *tls.Config, readOnly bool) func(grpc net.Addr) (*cluster.Member, error) {
	if f.gossip == "" {
		return nil
	}
	return func(grpc net.Addr) (*cluster.Member, error) {
		o := f.options
		o.Logger, o.ReadReplica = logger, readOnly
		if !o.GRPCAddress.IsValid() {
			bound, err := netip.ParseAddrPort(grpc.String())
			if err != nil {
				return nil, fmt.Errorf("address of the gRPC server: %w", err)
			}
			o.GRPCAddress = bound
		}
		if config != nil {
			if err := tlsfiles.Covers(config, o.GRPCAddress.Addr().String()); err != nil {
				logger.Warn("nodes of the cluster connect to an IP address, which the certificate does not name; set expected_name on them", "error", err)
			}
		}
		if f.generationFile != "" {
			file := cluster.GenerationFile(f.generationFile)
			last, err := file.Load()
			if err != nil {
				return nil, err
			}
			o.LastGeneration, o.Remember = last, file.Save
		}
		return cluster.Start(o)
	}
}
