package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	modeVariable  = "HOLDFAST_TEST_POSTGRES"
	imageVariable = "HOLDFAST_TEST_POSTGRES_IMAGE"
)

var errNoPostgres = errors.New("these tests need PostgreSQL: install a Docker Engine (and, where it cannot pull " + defaultImage +
	", run integration/postgres-image/build.sh), or a PostgreSQL server (Debian: apt-get install postgresql), or set " + modeVariable + " to a postgres:// URL")

// startServer starts a server as the environment says.
func startServer() (*Server, error) {
	mode := os.Getenv(modeVariable)
	if isURL(mode) {
		return useExisting(mode)
	}
	return startOwn(mode)
}

func isURL(mode string) bool {
	return strings.HasPrefix(mode, "postgres://") || strings.HasPrefix(mode, "postgresql://")
}

// startOwn starts a server of ours; mode is docker, local, or empty for either.
func startOwn(mode string) (*Server, error) {
	backend, err := chooseBackend(mode)
	if err != nil {
		return nil, err
	}
	server := &Server{backend: backend}
	if err := server.startAndWait(); err != nil {
		return nil, errors.Join(fmt.Errorf("start PostgreSQL: %w", err), server.remove())
	}
	return server, nil
}

func chooseBackend(mode string) (backend, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	switch mode {
	case "":
		docker, dockerErr := newDockerBackend(ctx)
		if dockerErr == nil {
			return docker, nil
		}
		local, localErr := newLocalBackend()
		if localErr == nil {
			return local, nil
		}
		return nil, fmt.Errorf("%w (%v; %v)", errNoPostgres, dockerErr, localErr)
	case "docker":
		backend, err := newDockerBackend(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s=docker: %w", modeVariable, err)
		}
		return backend, nil
	case "local":
		backend, err := newLocalBackend()
		if err != nil {
			return nil, fmt.Errorf("%s=local: %w", modeVariable, err)
		}
		return backend, nil
	}
	return nil, fmt.Errorf("%s is neither docker, nor local, nor a postgres:// URL", modeVariable)
}

// existing is a server that somebody else runs.
type existing struct{ address url.URL }

func useExisting(dsn string) (*Server, error) {
	address, err := url.Parse(dsn)
	if err != nil {
		// Not the error itself: it holds the URL and with it the password.
		return nil, fmt.Errorf("%s: the postgres:// URL cannot be parsed", modeVariable)
	}
	server := &Server{backend: existing{address: *address}}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := runSQL(ctx, server.DSN(maintenanceDatabase), "SELECT 1"); err != nil {
		return nil, fmt.Errorf("connect to the server of %s: %w", modeVariable, err)
	}
	return server, nil
}

var errExisting = errors.New("the server is not ours to stop or start: use PrivateServer")

func (e existing) url() url.URL                  { return e.address }
func (e existing) start(context.Context) error   { return errExisting }
func (e existing) stop(context.Context) error    { return errExisting }
func (e existing) kill(context.Context) error    { return errExisting }
func (e existing) remove(context.Context) error  { return nil }
func (e existing) running(context.Context) error { return nil }
func (e existing) output(context.Context) string { return "" }
