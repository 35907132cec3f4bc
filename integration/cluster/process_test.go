package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"holdfast/metastore/rpc"
	"holdfast/proto/membershippb"
)

// patience is how long tests wait for what has to happen.
const patience = 2 * time.Minute

// process is a metastore server in a process of its own.
type process struct {
	command *exec.Cmd
	client  *rpc.Client
	ended   chan error

	mu sync.Mutex
	// What the process said of itself.
	grpc, gossip, nodeID string
	generation           uint64
	log                  []string
}

// start runs a server and waits until it serves.
func start(t *testing.T, binary string, store place, args ...string) *process {
	t.Helper()
	args = append([]string{"serve", "--http", "", "--log-format", "json", "--store", store.url, "--gossip-interval", "200ms"}, args...)
	p := &process{command: exec.Command(binary, args...), ended: make(chan error, 1)}
	p.command.Env = append(os.Environ(), store.environment...)
	stderr, err := p.command.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.command.Start())
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.read(bufio.NewScanner(stderr))
	}()
	go func() {
		<-read
		p.ended <- p.command.Wait()
	}()
	t.Cleanup(func() { _ = p.command.Process.Kill() })
	require.Eventually(t, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.grpc != ""
	}, patience, 10*time.Millisecond, "the server does not serve: %v", p)
	p.client, err = rpc.Dial(p.grpc, rpc.ClientOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.client.Close()) })
	return p
}

// read takes from the log where the server is and who it is.
func (p *process) read(lines *bufio.Scanner) {
	for lines.Scan() {
		var line struct {
			Message    string `json:"msg"`
			GRPC       string `json:"grpc"`
			Gossip     string `json:"gossip"`
			NodeID     string `json:"node_id"`
			Generation uint64 `json:"generation"`
		}
		p.mu.Lock()
		p.log = append(p.log, lines.Text())
		if json.Unmarshal(lines.Bytes(), &line) == nil {
			switch line.Message {
			case "the metastore is a member of a cluster":
				p.gossip, p.nodeID, p.generation = line.Gossip, line.NodeID, line.Generation
			case "metastore is serving":
				p.grpc = line.GRPC
			}
		}
		p.mu.Unlock()
	}
}

// sees returns what the process knows of another, nil if nothing.
func (p *process) sees(t *testing.T, other *process) *membershippb.ClusterMember {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, members, err := p.client.ClusterMembers(ctx)
	require.NoError(t, err)
	for _, member := range members {
		if member.GetNodeId() == other.nodeID && member.GetGeneration() == other.generation {
			return member
		}
	}
	return nil
}

// usable says whether the process would send calls to the other one.
func (p *process) usable(t *testing.T, other *process) bool {
	t.Helper()
	member := p.sees(t, other)
	return member.GetLive() && member.GetReady() && member.GetGrpcAddress() == other.grpc
}

func waitUntilAllSeeAll(t *testing.T, processes ...*process) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, p := range processes {
			for _, other := range processes {
				if !p.usable(t, other) {
					return false
				}
			}
		}
		return true
	}, patience, 20*time.Millisecond, "all see all live and ready")
}

func (p *process) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	require.NoError(t, p.command.Process.Signal(signal))
}

// wait returns how the process ended.
func (p *process) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-p.ended:
		return err
	case <-time.After(patience):
		t.Fatalf("process %s does not end: %v", p.nodeID, p.log)
		return nil
	}
}
