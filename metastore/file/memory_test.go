package file

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"holdfast/metastore"
)

// memoryEnvironment names the directory for a process that measures its memory.
const memoryEnvironment = "HOLDFAST_FILE_TEST_MEMORY"

const million = 1_000_000

// BenchmarkMemoryOfAMillionSplits stages a million splits in batches of 1,000 into one index of a
// local directory, and then loads that from its snapshot, each in a process of its own. live-bytes is
// what the heap holds for a split in the end; peak-MiB is the most memory that the process had resident.
func BenchmarkMemoryOfAMillionSplits(b *testing.B) {
	directory := filepath.Join(b.TempDir(), "store")
	for _, phase := range []string{"stage", "load"} {
		b.Run(phase, func(b *testing.B) {
			command := exec.Command(os.Args[0], phase)
			command.Env = append(os.Environ(), memoryEnvironment+"="+directory)
			command.Stderr = os.Stderr
			out, err := command.Output()
			if err != nil {
				b.Fatal(err)
			}
			var live float64
			if _, err := fmt.Sscan(string(out), &live); err != nil {
				b.Fatal(err)
			}
			usage := command.ProcessState.SysUsage().(*syscall.Rusage)
			b.ReportMetric(live/million, "live-bytes/split")
			b.ReportMetric(float64(usage.Maxrss)/1024, "peak-MiB")
		})
	}
}

// measureMemory is a phase of the benchmark, in its process. It prints the bytes that are live.
func measureMemory(directory, phase string) error {
	ctx := context.Background()
	before := liveHeap()
	s, err := Open(ctx, Options{URL: directory})
	if err != nil {
		return err
	}
	if phase == "stage" {
		err = stageMillion(ctx, s)
	}
	if err != nil {
		return err
	}
	state, err := s.stateOf(ctx, "logs")
	if err != nil {
		return err
	}
	if state.splits.len() != million {
		return fmt.Errorf("there are %d splits", state.splits.len())
	}
	fmt.Println(liveHeap() - before)
	if phase == "stage" {
		log, done := s.logs.use("logs")
		defer done()
		if err := log.snapshot(ctx, 0); err != nil {
			return err
		}
	}
	return s.Close()
}

func stageMillion(ctx context.Context, s *Store) error {
	config, err := parseIndexConfig("logs")
	if err != nil {
		return err
	}
	index, err := s.CreateIndex(ctx, metastore.CreateIndexRequest{Config: config})
	if err != nil {
		return err
	}
	const batch = 1000
	for from := 0; from < million; from += batch {
		ids := make([]string, batch)
		for i := range ids {
			ids[i] = fmt.Sprintf("01M8P1J7FR1XNB4CEK%08d", from+i)
		}
		// As a server does: every split is read from its text.
		splits := newSplits(ids...)
		for i := range splits {
			if splits[i], err = metastore.ParseSplitMetadata([]byte(splits[i].Document())); err != nil {
				return err
			}
		}
		if _, err := s.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: index.IndexUID, Splits: splits}); err != nil {
			return err
		}
	}
	return nil
}
