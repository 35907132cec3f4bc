package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// staleAge is how old a leftover must be before a later run removes it.
const staleAge = time.Hour

// processLives tells whether a process of this number exists. An empty or odd number counts as alive:
// nothing that it may own is removed.
func processLives(number string) bool {
	pid, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil || pid <= 0 {
		return true
	}
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// childrenOf lists the children of a process where the system has /proc, else none.
func childrenOf(parent int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var children []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue // ended meanwhile
		}
		// "pid (command) state parent ...", where the command may hold spaces and parentheses.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			children = append(children, pid)
		}
	}
	return children
}

// waitUntilGone returns when none of the processes exists.
func waitUntilGone(ctx context.Context, pids []int) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for _, pid := range pids {
		for processLives(strconv.Itoa(pid)) && !zombie(pid) {
			select {
			case <-ctx.Done():
				return fmt.Errorf("wait for the end of process %d: %w", pid, ctx.Err())
			case <-tick.C:
			}
		}
	}
	return nil
}

// zombie tells whether a process has ended and only waits for its parent to notice.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return len(fields) > 0 && fields[0] == "Z"
}
