package pgtest

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// watchdog is a shell that runs a clean-up script when this process ends in any way, SIGKILL included:
// it waits for the end of a pipe whose other end only this process holds.
type watchdog struct {
	process *exec.Cmd
	alive   io.WriteCloser
}

// startWatchdog has script run, with its arguments as $1 and on, when this process ends or calls release.
func startWatchdog(script string, args ...string) (*watchdog, error) {
	process := exec.Command("/bin/sh", append([]string{"-c", "cat >/dev/null; " + script, "sh"}, args...)...)
	// A session of its own: a Ctrl-C at the terminal is not meant for it.
	process.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	alive, err := process.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the watchdog of PostgreSQL: %w", err)
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("start the watchdog of PostgreSQL: %w", err)
	}
	return &watchdog{process: process, alive: alive}, nil
}

// release has the script run now and waits for it. Call it after the orderly clean-up, which leaves it
// nothing to do.
func (w *watchdog) release() error {
	if err := w.alive.Close(); err != nil {
		return fmt.Errorf("end the watchdog of PostgreSQL: %w", err)
	}
	if err := w.process.Wait(); err != nil {
		return fmt.Errorf("clean-up by the watchdog of PostgreSQL: %w", err)
	}
	return nil
}
