package chaos

import (
	"io"
	"os/exec"
	"strconv"
	"syscall"
)

// guard is a shell that kills a process when this one ends in any way, SIGKILL included: it waits for the end
// of a pipe whose other end only this process holds.
type guard struct {
	shell *exec.Cmd
	alive io.WriteCloser
}

func guardProcess(pid int) (*guard, error) {
	shell := exec.Command("/bin/sh", "-c", `cat >/dev/null; kill -9 "$1"`, "sh", strconv.Itoa(pid))
	// A session of its own: a Ctrl-C at the terminal is not meant for it.
	shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	alive, err := shell.StdinPipe()
	if err != nil {
		return nil, err
	}
	return &guard{shell, alive}, shell.Start()
}

// release ends the guard without the kill: call it when the process has ended, whose number may be another's soon.
func (g *guard) release() {
	_ = syscall.Kill(-g.shell.Process.Pid, syscall.SIGKILL) // the shell and its cat
	_ = g.shell.Wait()                                      // it was killed
	_ = g.alive.Close()
}
