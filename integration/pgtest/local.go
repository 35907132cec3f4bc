package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// localWatchdog ends the cluster under the directory $1 and deletes it.
const localWatchdog = `
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null
tries=0
while [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries+1)); done
rm -rf "$1"`

const localPrefix = "holdfast-pgtest-"

// localBackend is a throw-away cluster made with an installed PostgreSQL.
type localBackend struct {
	bin        string // directory of postgres and initdb
	directory  string // holds data, the socket and the log
	port       int
	credential *syscall.Credential // who runs the server; nil: we do

	process  *exec.Cmd
	exited   chan struct{} // closed when process has ended
	watchdog *watchdog
}

var _ backend = (*localBackend)(nil)

// newLocalBackend makes a cluster that is not started yet.
func newLocalBackend() (_ *localBackend, err error) {
	bin, err := findInstallation()
	if err != nil {
		return nil, err
	}
	credential, err := serverCredential()
	if err != nil {
		return nil, err
	}
	removeStaleDirectories(temporaryRoot())
	directory, err := os.MkdirTemp(temporaryRoot(), localPrefix)
	if err != nil {
		return nil, fmt.Errorf("make a directory for PostgreSQL: %w", err)
	}
	l := &localBackend{bin: bin, directory: directory, credential: credential}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(directory))
		}
	}()
	if err := os.WriteFile(filepath.Join(directory, "owner"), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return nil, fmt.Errorf("make a directory for PostgreSQL: %w", err)
	}
	if credential != nil {
		if err := os.Chown(directory, int(credential.Uid), int(credential.Gid)); err != nil {
			return nil, fmt.Errorf("give the directory of PostgreSQL to its user: %w", err)
		}
	}
	if l.port, err = freePort(); err != nil {
		return nil, err
	}
	if err := l.initialize(); err != nil {
		return nil, err
	}
	l.watchdog, err = startWatchdog(localWatchdog, directory)
	return l, err
}

// temporaryRoot is where clusters live. Root's own TMPDIR may be closed to the user who runs the server.
func temporaryRoot() string {
	if os.Geteuid() == 0 {
		return "/tmp"
	}
	return os.TempDir()
}

// findInstallation returns the directory that holds initdb and postgres: that of the highest version
// in the places where packages put them, else the one of PATH.
func findInstallation() (string, error) {
	var found []string
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin"} {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			return "", fmt.Errorf("find PostgreSQL in %s: %w", pattern, err)
		}
		found = append(found, matches...)
	}
	version := func(bin string) int {
		digits := strings.TrimLeft(filepath.Base(filepath.Dir(bin)), "pgsqlotre-@")
		number, _ := strconv.Atoi(digits) // no number: the lowest
		return number
	}
	slices.SortStableFunc(found, func(a, b string) int { return version(b) - version(a) })
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if resolved, err := filepath.EvalSymlinks(initdb); err == nil {
			found = append(found, filepath.Dir(resolved))
		}
	}
	for _, bin := range found {
		_, initdbErr := os.Stat(filepath.Join(bin, "initdb"))
		_, postgresErr := os.Stat(filepath.Join(bin, "postgres"))
		if initdbErr == nil && postgresErr == nil {
			return bin, nil
		}
	}
	return "", errors.New("no PostgreSQL server is installed: found no initdb in PATH or /usr/lib/postgresql/*/bin")
}

// serverCredential is the user to run the server as when we are root, whom PostgreSQL refuses.
func serverCredential() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(account.Uid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("user id of %s: %w", name, err)
		}
		gid, err := strconv.ParseUint(account.Gid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("group id of %s: %w", name, err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody to run it as")
}

// command prepares one of PostgreSQL's programs.
func (l *localBackend) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(l.bin, program), args...)
	cmd.Dir = l.directory
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "PG") || strings.HasPrefix(variable, "LC_")
	}), "LANG=C")
	// A session of its own: a Ctrl-C at the terminal is not meant for it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: l.credential}
	return cmd
}

func (l *localBackend) initialize() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	secret := filepath.Join(l.directory, "password")
	if err := os.WriteFile(secret, []byte(password+"\n"), 0o644); err != nil {
		return fmt.Errorf("write the password file of initdb: %w", err)
	}
	args := []string{"--pgdata", filepath.Join(l.directory, "data"), "--username", username, "--pwfile", secret,
		"--auth", "scram-sha-256", "--encoding", "UTF8", "--no-sync"}
	english := slices.Concat(args, []string{"--locale", "C.UTF-8", "--locale-provider", "icu", "--icu-locale", "en"})
	_, err := l.command(ctx, "initdb", english...).CombinedOutput()
	if err == nil {
		return nil
	}
	// A server before version 15, or one built without ICU. initdb has removed what it had made.
	output, err := l.command(ctx, "initdb", append(args, "--locale", "C")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w: %s", err, bytes.TrimSpace(output))
	}
	return nil
}

func (l *localBackend) start(context.Context) error {
	log, err := os.OpenFile(l.logName(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log of PostgreSQL: %w", err)
	}
	defer log.Close() //nolint:errcheck // the server has its own handle by now
	// Not the caller's context: it is that of the start, and the server outlives it.
	process := l.command(context.Background(), "postgres", "-D", filepath.Join(l.directory, "data"),
		"-c", "listen_addresses="+loopback, "-c", "port="+strconv.Itoa(l.port),
		"-c", "unix_socket_directories="+l.directory, "-c", "max_connections="+maxConnections)
	process.Stdout, process.Stderr = log, log
	if err := process.Start(); err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = process.Wait() // how it ended is in ProcessState
	}()
	l.process, l.exited = process, exited
	return nil
}

func (l *localBackend) stop(ctx context.Context) error {
	return l.end(ctx, func() error { return l.process.Process.Signal(syscall.SIGINT) })
}

func (l *localBackend) kill(ctx context.Context) error {
	return l.end(ctx, func() error {
		// The children first listed, then killed after their parent, which would else restart them.
		children := childrenOf(l.process.Process.Pid)
		err := l.process.Process.Kill()
		for _, child := range children {
			_ = syscall.Kill(child, syscall.SIGKILL) // it may have ended by itself
		}
		return errors.Join(err, waitUntilGone(ctx, children))
	})
}

// end has the server end and waits until it has. A server that runs no more is fine.
func (l *localBackend) end(ctx context.Context, order func() error) error {
	if l.process == nil || l.running(ctx) != nil {
		return nil
	}
	if err := order(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end postgres: %w", err)
	}
	select {
	case <-l.exited:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the end of postgres: %w", ctx.Err())
	}
}

func (l *localBackend) remove(ctx context.Context) error {
	err := l.end(ctx, func() error { return l.process.Process.Signal(syscall.SIGQUIT) })
	return errors.Join(err, l.watchdog.release())
}

func (l *localBackend) running(context.Context) error {
	select {
	case <-l.exited:
		return fmt.Errorf("postgres has ended: %v", l.process.ProcessState)
	default:
		return nil
	}
}

func (l *localBackend) url() url.URL {
	return serverURL(loopback, l.port)
}

func (l *localBackend) logName() string { return filepath.Join(l.directory, "log") }

func (l *localBackend) output(context.Context) string {
	log, err := os.ReadFile(l.logName())
	if err != nil {
		return err.Error()
	}
	return string(log[max(0, len(log)-4096):])
}

// removeStaleDirectories deletes clusters that a watchdog could not: those older than an hour whose
// test binary is gone.
func removeStaleDirectories(root string) {
	directories, _ := filepath.Glob(filepath.Join(root, localPrefix+"*")) // the pattern is well formed
	for _, directory := range directories {
		info, err := os.Stat(directory)
		if err != nil || time.Since(info.ModTime()) < staleAge {
			continue
		}
		owner, err := os.ReadFile(filepath.Join(directory, "owner"))
		if err != nil || processLives(string(owner)) {
			continue
		}
		_ = os.RemoveAll(directory) // another user's, perhaps
	}
}
