package binary

import (
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestBinariesThatAreBuiltAtTheSameTimeRun(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	var building sync.WaitGroup
	for _, name := range []string{"first", "second"} {
		building.Go(func() {
			binary := filepath.Join(directory, name)
			if err := build(binary); err != nil {
				t.Errorf("build the %s binary: %v", name, err)
				return
			}
			output, err := exec.Command(binary, "version").CombinedOutput()
			if err != nil || !strings.HasPrefix(string(output), "metastore ") {
				t.Errorf("the %s binary: %v: %s", name, err, output)
			}
		})
	}
	building.Wait()
}
