package chaos

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is how long the test waits for what has to happen.
const patience = 2 * time.Minute

// server is a metastore process behind a proxy, whose address stays when the process is killed and another one
// takes its place.
type server struct {
	binary, store string
	proxy         *proxy

	command *exec.Cmd
	guard   *guard
	ended   chan struct{} // closed when the process has closed its log

	mu  sync.Mutex
	log []string // the last lines
}

func newServer(t *testing.T, binary, store string, seed uint64) *server {
	t.Helper()
	s := &server{binary: binary, store: store, proxy: newProxy(t, seed)}
	t.Cleanup(func() {
		if s.command != nil {
			s.kill()
		}
		if t.Failed() {
			t.Logf("the log of the last server of %s ends:\n%s", s.proxy.address(), s.lastLines())
		}
	})
	s.start(t)
	return s
}

// start runs a server and returns when it serves.
func (s *server) start(t *testing.T) {
	t.Helper()
	command := exec.Command(s.binary, "serve", "--http", "", "--log-format", "json", "--store", s.store, "--listen", "127.0.0.1:0")
	stderr, err := command.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	guard, err := guardProcess(command.Process.Pid)
	require.NoError(t, err)
	s.command, s.guard, s.ended = command, guard, make(chan struct{})
	serving := make(chan string, 1)
	go func() {
		defer close(s.ended)
		s.read(bufio.NewScanner(stderr), serving)
	}()
	select {
	case address := <-serving:
		s.proxy.forwardTo(address)
	case <-s.ended:
		t.Fatalf("a server ended instead of serving; its log:\n%s", s.lastLines())
	case <-time.After(patience):
		t.Fatalf("a server does not serve; its log:\n%s", s.lastLines())
	}
}

// read keeps the end of the log, but for the lines about single calls, and takes from it where the server is.
func (s *server) read(lines *bufio.Scanner, serving chan<- string) {
	const kept = 10
	told := false
	for lines.Scan() {
		line := lines.Text()
		if strings.Contains(line, `"msg":"call"`) || strings.Contains(line, "was answered again") {
			continue
		}
		s.mu.Lock()
		if s.log = append(s.log, line); len(s.log) > 2*kept {
			s.log = append([]string(nil), s.log[len(s.log)-kept:]...)
		}
		s.mu.Unlock()
		if told || !strings.Contains(line, "metastore is serving") {
			continue
		}
		var said struct {
			GRPC string `json:"grpc"`
		}
		if json.Unmarshal(lines.Bytes(), &said) == nil {
			told = true
			serving <- said.GRPC
		}
	}
}

func (s *server) lastLines() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.log, "\n")
}

// kill ends the process as kill -9 does, and returns when it is gone.
func (s *server) kill() {
	_ = s.command.Process.Kill() // it may have ended by itself, which the next calls find out
	<-s.ended
	_ = s.command.Wait() // it was killed
	s.guard.release()
	s.command = nil
}
