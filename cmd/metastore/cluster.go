package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore/rpc"
	"holdfast/proto/membershippb"
)

func (c *command) cluster() *cobra.Command {
	f := &clientFlags{}
	group := c.group("cluster", "Look at the cluster that a server is a member of",
		"Look at the cluster that a running metastore server is a member of.",
		c.clusterMembers(f))
	f.add(group)
	return group
}

func (c *command) clusterMembers(f *clientFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "members",
		Short: "List the members of the cluster as the server sees them",
		Long: `List the members of the cluster as the server sees them, itself included. Nodes send calls to a
member with the role metastore that is live and ready. A node that was restarted is listed once
for each run until the earlier one is forgotten, some 15 minutes after its end.

With --format json: an array of objects, one for each member, with the keys node_id, generation,
gossip_address, grpc_address, services, ready, live, self, heartbeat, last_heartbeat_age_millis
and dead_for_millis.`,
		Example: `  metastore cluster members
  metastore cluster members --server 10.0.0.7:7281 --format json`,
		Args: cobra.NoArgs,
		RunE: c.work(func(cmd *cobra.Command, _ []string) error {
			return c.withClient(cmd, f, func(ctx context.Context, client *rpc.Client) error {
				return c.listClusterMembers(ctx, f, client)
			})
		}),
	}
}

func (c *command) listClusterMembers(ctx context.Context, f *clientFlags, client *rpc.Client) error {
	clusterID, members, err := client.ClusterMembers(ctx)
	if errors.Is(err, rpc.ErrNoCluster) {
		return withHint(fmt.Errorf("list the members of the cluster: %w", err), "the server at %s was started without --gossip", f.server)
	}
	if err != nil {
		return f.explain(ctx, err, "list the members of the cluster")
	}
	if f.format == output.JSON {
		return c.membersJSON(members)
	}
	table := output.NewTable(c.stdout, "NODE", "STATE", "READY", "ROLES", "GRPC", "GOSSIP", ">LAST HEARTBEAT", "STARTED (UTC)", ">GENERATION")
	for _, m := range members {
		if err := table.Row(m.GetNodeId(), memberState(m), yesNo(m.GetReady() && m.GetLive()), strings.Join(m.GetServices(), ","), m.GetGrpcAddress(), m.GetGossipAddress(),
			lastHeartbeat(m), output.Seconds(int64(m.GetGeneration()/uint64(time.Second))), strconv.FormatUint(m.GetGeneration(), 10)); err != nil {
			return err
		}
	}
	if err := table.Close(); err != nil {
		return err
	}
	return c.print("%s of cluster %q", output.Plural(len(members), "member"), clusterID)
}

func memberState(m *membershippb.ClusterMember) string {
	switch {
	case m.GetSelf():
		return "self"
	case m.GetLive():
		return "live"
	}
	return "dead"
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func lastHeartbeat(m *membershippb.ClusterMember) string {
	if m.GetHeartbeat() == 0 {
		return ""
	}
	age := time.Duration(m.GetLastHeartbeatAgeMillis()) * time.Millisecond
	return age.Round(100*time.Millisecond).String() + " ago"
}

// memberJSON is a member in the output for machines.
type memberJSON struct {
	NodeID                 string   `json:"node_id"`
	Generation             uint64   `json:"generation"`
	GossipAddress          string   `json:"gossip_address"`
	GRPCAddress            string   `json:"grpc_address"`
	Services               []string `json:"services"`
	Ready                  bool     `json:"ready"`
	Live                   bool     `json:"live"`
	Self                   bool     `json:"self"`
	Heartbeat              uint64   `json:"heartbeat"`
	LastHeartbeatAgeMillis uint64   `json:"last_heartbeat_age_millis"`
	DeadForMillis          uint64   `json:"dead_for_millis"`
}

func (c *command) membersJSON(members []*membershippb.ClusterMember) error {
	array := output.NewArray(c.stdout)
	for _, m := range members {
		element, err := json.Marshal(memberJSON{
			NodeID: m.GetNodeId(), Generation: m.GetGeneration(), GossipAddress: m.GetGossipAddress(), GRPCAddress: m.GetGrpcAddress(),
			Services: append([]string{}, m.GetServices()...), Ready: m.GetReady(), Live: m.GetLive(), Self: m.GetSelf(),
			Heartbeat: m.GetHeartbeat(), LastHeartbeatAgeMillis: m.GetLastHeartbeatAgeMillis(), DeadForMillis: m.GetDeadForMillis(),
		})
		if err != nil {
			return fmt.Errorf("write member %q: %w", m.GetNodeId(), err)
		}
		if err := array.Element(element); err != nil {
			return err
		}
	}
	return array.Close()
}
