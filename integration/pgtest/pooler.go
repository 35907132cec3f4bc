package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// errNoPooler says what to install.
var errNoPooler = errors.New("this test needs PgBouncer in PATH or /usr/sbin: install it (Debian: apt-get install pgbouncer)")

// PoolerSessions is how many sessions on the server the clients of a [TransactionPooler] share, for each database.
const PoolerSessions = 4

const poolerPrefix = "holdfast-pooler-"

// poolerWatchdog ends the pooler whose process $1 is and deletes its directory $2.
const poolerWatchdog = `kill -KILL "$1" 2>/dev/null; rm -rf "$2"`

// TransactionPooler starts a PgBouncer in transaction mode in front of the server of a postgres:// URL, and returns
// the URL of the same database through it. Any number of clients share PoolerSessions sessions, which change hands after
// each transaction. The pooler is ended with the test.
func TransactionPooler(t testing.TB, dsn string) string {
	t.Helper()
	pooler, err := startPooler(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pooler.end(); err != nil {
			t.Errorf("end PgBouncer: %v", err)
		}
		if t.Failed() {
			t.Logf("the log of PgBouncer ends:\n%s", pooler.output.Bytes()[max(0, pooler.output.Len()-4096):])
		}
	})
	return pooler.address.String()
}

// pooler is a running PgBouncer.
type pooler struct {
	directory string // holds the configuration and the log
	address   url.URL
	process   *exec.Cmd
	output    bytes.Buffer  // until exited is closed, of the process
	exited    chan struct{} // closed when the process has ended
	watchdog  *watchdog
}

func startPooler(dsn string) (_ *pooler, err error) {
	program, err := findPooler()
	if err != nil {
		return nil, err
	}
	server, err := url.Parse(dsn)
	if err != nil {
		return nil, errors.New("start PgBouncer: the URL of the server cannot be parsed")
	}
	credential, err := serverCredential()
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	p := &pooler{address: *server, exited: make(chan struct{})}
	p.address.Host = net.JoinHostPort(loopback, strconv.Itoa(port))
	p.address.RawQuery = "sslmode=disable"
	if p.directory, err = os.MkdirTemp(temporaryRoot(), poolerPrefix); err != nil {
		return nil, fmt.Errorf("make a directory for PgBouncer: %w", err)
	}
	if err := p.configure(server, port, credential); err != nil {
		return nil, errors.Join(fmt.Errorf("configure PgBouncer: %w", err), os.RemoveAll(p.directory))
	}
	p.process = exec.Command(program, p.configName())
	p.process.Dir = p.directory
	p.process.Stdout, p.process.Stderr = &p.output, &p.output
	// A session of its own: a Ctrl-C at the terminal is not meant for it.
	p.process.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: credential}
	if err := p.process.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start PgBouncer: %w", err), os.RemoveAll(p.directory))
	}
	go func() {
		defer close(p.exited)
		_ = p.process.Wait() // how it ended is in ProcessState
	}()
	if p.watchdog, err = startWatchdog(poolerWatchdog, strconv.Itoa(p.process.Process.Pid), p.directory); err != nil {
		return nil, errors.Join(err, p.end())
	}
	if err := p.waitUntilReady(); err != nil {
		return nil, errors.Join(err, p.end())
	}
	return p, nil
}

func findPooler() (string, error) {
	// Where Debian has it, which is not in the PATH of everybody.
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if program, err := exec.LookPath(name); err == nil {
			return program, nil
		}
	}
	return "", errNoPooler
}

func (p *pooler) configName() string { return filepath.Join(p.directory, "pgbouncer.ini") }

// configure writes what PgBouncer reads: how it logs in to the server, and how clients log in to it, which is the same.
// What is not here has PgBouncer's own default, as most operators leave it.
func (p *pooler) configure(server *url.URL, port int, credential *syscall.Credential) error {
	serverPort := server.Port()
	if serverPort == "" {
		serverPort = "5432"
	}
	users := filepath.Join(p.directory, "users")
	secret, _ := server.User.Password() // none: the server trusts us
	configuration := fmt.Sprintf(`[databases]
* = host=%s port=%s

[pgbouncer]
listen_addr = %s
listen_port = %d
unix_socket_dir =
auth_type = scram-sha-256
auth_file = %s
pool_mode = transaction
default_pool_size = %d
max_client_conn = 1000
`, server.Hostname(), serverPort, loopback, port, users, PoolerSessions)
	for name, text := range map[string]string{
		users:          fmt.Sprintf("%q %q\n", server.User.Username(), secret),
		p.configName(): configuration,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
		if credential != nil {
			if err := os.Chown(name, int(credential.Uid), int(credential.Gid)); err != nil {
				return err
			}
		}
	}
	if credential != nil {
		return os.Chown(p.directory, int(credential.Uid), int(credential.Gid))
	}
	return nil
}

// waitUntilReady returns when a query is answered.
func (p *pooler) waitUntilReady() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := runSQL(ctx, p.address.String(), "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("PgBouncer has ended: %v: %s", p.process.ProcessState, bytes.TrimSpace(p.output.Bytes()))
		case <-ctx.Done():
			return fmt.Errorf("wait until PgBouncer answers: %w", errors.Join(ctx.Err(), err))
		case <-tick.C:
		}
	}
}

// end ends the process, waits for it, and deletes the directory.
func (p *pooler) end() error {
	err := p.process.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	<-p.exited
	if p.watchdog == nil {
		return errors.Join(err, os.RemoveAll(p.directory))
	}
	return errors.Join(err, p.watchdog.release())
}
