package file

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"holdfast/metastore"
)

const (
	workerEnvironment = "HOLDFAST_FILE_TEST_WORKER"
	longEnvironment   = "HOLDFAST_LONG"
)

// TestMain runs the worker of the test of killed processes, or a measurement of memory, when this is
// such a process.
func TestMain(m *testing.M) {
	if directory := os.Getenv(workerEnvironment); directory != "" {
		if err := work(directory, os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if directory := os.Getenv(memoryEnvironment); directory != "" {
		if err := measureMemory(directory, os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// work stages and publishes pairs of splits until it is killed. It says "try" before and "ok" after
// each call, with what the pair is to become.
func work(directory, name string) error {
	ctx := context.Background()
	s, err := Open(ctx, Options{URL: directory, SnapshotEntries: 10})
	if err != nil {
		return err
	}
	s.env.confirmAge = 0 // as one that slept
	found, err := s.IndexMetadata(ctx, metastore.IndexLookup{IndexID: metastore.Some("logs")})
	if err != nil {
		return err
	}
	uid := found.IndexUID
	for i := 0; ; i++ {
		pair := fmt.Sprintf("%s-%05d", name, i)
		ids := []string{pair + "-a", pair + "-b"}
		fmt.Println("try", pair, "Staged")
		result, err := s.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: newSplits(ids...), CreateOnly: true})
		if err != nil || len(result.Staged) != 2 {
			return fmt.Errorf("stage %s: %+v, %w", pair, result, err)
		}
		fmt.Println("ok", pair, "Staged")
		fmt.Println("try", pair, "Published")
		if err := s.PublishSplits(ctx, publishing(uid, ids...)); err != nil {
			return err
		}
		fmt.Println("ok", pair, "Published")
	}
}

// killedWorkers starts workers at once and kills them, one after the other. It returns what they said.
func killedWorkers(t *testing.T, directory string, round, count int, random *rand.Rand) []string {
	t.Helper()
	var said []string
	type worker struct {
		command *exec.Cmd
		lines   chan []string
		begun   chan struct{}
	}
	var workers []worker
	for i := range count {
		w := worker{exec.Command(os.Args[0], fmt.Sprintf("w%d-%d", round, i)), make(chan []string, 1), make(chan struct{})}
		w.command.Env = append(os.Environ(), workerEnvironment+"="+directory)
		w.command.Stderr = os.Stderr
		out, err := w.command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := w.command.Start(); err != nil {
			t.Fatal(err)
		}
		go func() {
			var lines []string
			scanner := bufio.NewScanner(out)
			for scanner.Scan() {
				if lines = append(lines, scanner.Text()); len(lines) == 1 {
					close(w.begun)
				}
			}
			w.lines <- lines
		}()
		workers = append(workers, w)
	}
	for _, w := range workers {
		select {
		case <-w.begun:
		case lines := <-w.lines:
			w.lines <- lines
			t.Errorf("a worker ended by itself; why is on standard error")
		case <-time.After(time.Minute):
			t.Error("a worker did not begin; what it waits for is on standard error")
			_ = w.command.Process.Signal(syscall.SIGQUIT) // the kill below ends it in any case
			<-time.After(time.Second)
		}
		// The moment of the kill is what the test varies.
		<-time.After(time.Duration(random.IntN(40_000)) * time.Microsecond)
		if err := w.command.Process.Kill(); err != nil {
			t.Errorf("kill: %v", err)
		}
		said = append(said, <-w.lines...)
		_ = w.command.Wait() // it was killed
	}
	return said
}

// trimmed reports whether entries of the log were removed.
func trimmed(t *testing.T, directory string) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(directory, filepath.FromSlash(logKeys{"logs/"}.trimmed())))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

func TestKilledProcessesLoseNothingTheyAcknowledgedAndLeaveNothingHalfDone(t *testing.T) {
	t.Parallel()
	kills := 50
	if os.Getenv(longEnvironment) != "" {
		kills = 1000
	}
	directory := filepath.Join(t.TempDir(), "store")
	survivor := openOn(t, localBucket(t, directory), snapshotEvery(10))
	survivor.env.removalAge = 3 * time.Second
	uid := createIndex(t, survivor, "logs")
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	tried, acknowledged := map[string]string{}, map[string]string{}
	end, bounded := t.Deadline()
	killed := 0
	for round := 0; killed < kills || !trimmed(t, directory); round++ {
		if kills > 50 && bounded && time.Until(end) < time.Minute {
			break // the long test takes what time it is given, and says how far it came
		}
		count := 2
		if round%4 == 3 {
			count = 8
		}
		killed += count
		for _, line := range killedWorkers(t, directory, round, count, random) {
			switch fields := strings.Fields(line); {
			case len(fields) == 3 && fields[0] == "try":
				tried[fields[1]] = fields[2]
			case len(fields) == 3 && fields[0] == "ok":
				acknowledged[fields[1]] = fields[2]
			}
		}
		// It lives long enough to know what may be removed.
		pair := fmt.Sprint("survivor-", round)
		stage(t, survivor, uid, pair+"-a", pair+"-b")
		tried[pair], acknowledged[pair] = "Staged", "Staged"
	}
	t.Logf("%d kills, %d pairs of splits acknowledged", killed, len(acknowledged))
	states := map[string]string{}
	for _, line := range listing(t, openOn(t, localBucket(t, directory))) {
		id, state, _ := strings.Cut(strings.TrimPrefix(line, "logs/"), "=")
		if states[id] != "" {
			t.Errorf("split %s is there twice", id)
		}
		states[id] = state
	}
	versionsOf(t, localBucket(t, directory), logKeys{"logs/"})
	for pair, target := range tried {
		a, b := states[pair+"-a"], states[pair+"-b"]
		if a != b {
			t.Errorf("pair %s is half changed: %q and %q", pair, a, b)
		}
		if a != target && a != acknowledged[pair] {
			t.Errorf("pair %s is %q; tried %q, acknowledged %q", pair, a, target, acknowledged[pair])
		}
		delete(states, pair+"-a")
		delete(states, pair+"-b")
	}
	if len(states) != 0 {
		t.Errorf("splits that nobody staged: %v", states)
	}
	if len(acknowledged) == 0 {
		t.Error("no worker got anything done")
	}
}
