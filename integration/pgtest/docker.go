package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

const (
	defaultImage = "postgres:16"
	standInImage = "holdfast-postgres:stand-in" // the name that integration/postgres-image/build.sh gives

	// ownerLabel marks our containers with "host name:process number" of the test binary.
	ownerLabel = "holdfast.pgtest.owner"

	// dockerWatchdog removes the container $1, if it is still there.
	dockerWatchdog = `docker rm --force --volumes "$1" >/dev/null 2>&1 || true`
)

// dockerBackend is a server in a container.
type dockerBackend struct {
	provider *testcontainers.DockerProvider
	image    string
	host     string // where the engine publishes ports
	port     int    // the published port, kept over restarts

	container *testcontainers.DockerContainer
	watchdog  *watchdog
}

var _ backend = (*dockerBackend)(nil)

// newDockerBackend connects to the engine and chooses and pulls the image. No container is made yet.
func newDockerBackend(ctx context.Context) (_ *dockerBackend, err error) {
	defer func() {
		// testcontainers panics when it finds no engine at all.
		if reason := recover(); reason != nil {
			err = fmt.Errorf("no Docker Engine: %v", reason)
		}
	}()
	// The reaper is an image of its own, which must be pulled. Our watchdog does its work.
	if err := os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true"); err != nil {
		return nil, fmt.Errorf("switch off the reaper: %w", err)
	}
	log.SetDefault(log.NewNoopLogger())
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return nil, fmt.Errorf("no Docker Engine: %w", err)
	}
	health, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := provider.Health(health); err != nil {
		return nil, fmt.Errorf("no Docker Engine: %w", err)
	}
	d := &dockerBackend{provider: provider}
	if d.host, err = publishedHost(provider.Client().DaemonHost()); err != nil {
		return nil, err
	}
	if d.image, err = d.chooseImage(ctx); err != nil {
		return nil, err
	}
	d.removeStaleContainers(ctx)
	return d, nil
}

// publishedHost is where the engine's published ports are reached. testcontainers has an answer of its own, but it takes
// every machine that looks like a container for one whose engine runs elsewhere and then goes to its gateway.
func publishedHost(daemon string) (string, error) {
	if override := os.Getenv("TESTCONTAINERS_HOST_OVERRIDE"); override != "" {
		return override, nil
	}
	address, err := url.Parse(daemon)
	if err != nil {
		return "", fmt.Errorf("address of the Docker Engine: %w", err)
	}
	if address.Scheme == "unix" || address.Scheme == "npipe" || address.Hostname() == "" {
		return loopback, nil
	}
	return address.Hostname(), nil
}

// chooseImage returns an image that the engine has. It pulls only when there is nothing else.
func (d *dockerBackend) chooseImage(ctx context.Context) (string, error) {
	wanted := os.Getenv(imageVariable)
	candidates := []string{wanted}
	if wanted == "" {
		wanted = defaultImage
		candidates = []string{defaultImage, standInImage}
	}
	for _, candidate := range candidates {
		if _, err := d.provider.Client().ImageInspect(ctx, candidate); err == nil {
			return candidate, nil
		}
	}
	pull, err := d.provider.Client().ImagePull(ctx, wanted, client.ImagePullOptions{})
	if err != nil {
		return "", fmt.Errorf("pull the image %s: %w", wanted, err)
	}
	_, err = io.Copy(io.Discard, pull)
	if err = errors.Join(err, pull.Close()); err != nil {
		return "", fmt.Errorf("pull the image %s: %w", wanted, err)
	}
	return wanted, nil
}

func (d *dockerBackend) start(ctx context.Context) error {
	if d.container != nil {
		if _, err := d.provider.Client().ContainerStart(ctx, d.container.GetContainerID(), client.ContainerStartOptions{}); err != nil {
			return fmt.Errorf("start the container: %w", err)
		}
		return nil
	}
	// A port is free until somebody else takes it: look for another one then.
	var failures []error
	for range 5 {
		err := d.create(ctx)
		if err == nil {
			return nil
		}
		failures = append(failures, err)
		if !strings.Contains(err.Error(), "port is already allocated") && !strings.Contains(err.Error(), "address already in use") {
			break
		}
	}
	return errors.Join(failures...)
}

func (d *dockerBackend) create(ctx context.Context) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	binding := network.PortBinding{HostPort: strconv.Itoa(port)}
	if d.host == loopback {
		binding.HostIP = netip.MustParseAddr(loopback)
	}
	created, err := testcontainers.Run(ctx, d.image,
		testcontainers.WithEnv(map[string]string{"POSTGRES_USER": username, "POSTGRES_PASSWORD": password, "POSTGRES_DB": maintenanceDatabase}),
		testcontainers.WithCmd("postgres", "-c", "max_connections="+maxConnections),
		testcontainers.WithLabels(map[string]string{ownerLabel: owner()}),
		testcontainers.WithExposedPorts("5432/tcp"),
		testcontainers.WithHostConfigModifier(func(host *container.HostConfig) {
			host.PortBindings = network.PortMap{network.MustParsePort("5432/tcp"): {binding}}
			host.ShmSize = 256 << 20 // parallel queries need more than the default of 64 MiB
		}),
	)
	if err != nil {
		return errors.Join(fmt.Errorf("start a container of %s: %w", d.image, err), testcontainers.TerminateContainer(created))
	}
	d.container, d.port = created, port
	d.watchdog, err = startWatchdog(dockerWatchdog, created.GetContainerID())
	return err
}

func (d *dockerBackend) stop(ctx context.Context) error {
	timeout := int(startTimeout / time.Second)
	_, err := d.provider.Client().ContainerStop(ctx, d.container.GetContainerID(), client.ContainerStopOptions{Timeout: &timeout})
	if err != nil {
		return fmt.Errorf("stop the container: %w", err)
	}
	return nil
}

func (d *dockerBackend) kill(ctx context.Context) error {
	// A stop without patience: unlike the engine's kill it returns when the processes are gone,
	// and a container that is down already is fine.
	patience := 0
	_, err := d.provider.Client().ContainerStop(ctx, d.container.GetContainerID(), client.ContainerStopOptions{Signal: "SIGKILL", Timeout: &patience})
	if err != nil {
		return fmt.Errorf("kill the container: %w", err)
	}
	return nil
}

func (d *dockerBackend) remove(ctx context.Context) error {
	if d.container == nil {
		return nil
	}
	_, err := d.provider.Client().ContainerRemove(ctx, d.container.GetContainerID(), client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil {
		err = fmt.Errorf("remove the container: %w", err)
	}
	return errors.Join(err, d.watchdog.release(), d.provider.Close())
}

func (d *dockerBackend) running(ctx context.Context) error {
	inspect, err := d.provider.Client().ContainerInspect(ctx, d.container.GetContainerID(), client.ContainerInspectOptions{})
	if err != nil {
		return fmt.Errorf("inspect the container: %w", err)
	}
	if state := inspect.Container.State; state != nil && !state.Running {
		return fmt.Errorf("the container has ended with status %d", state.ExitCode)
	}
	return nil
}

func (d *dockerBackend) url() url.URL { return serverURL(d.host, d.port) }

func (d *dockerBackend) output(ctx context.Context) string {
	if d.container == nil {
		return ""
	}
	logs, err := d.container.Logs(ctx)
	if err != nil {
		return err.Error()
	}
	text, err := io.ReadAll(io.LimitReader(logs, 1<<20))
	if err = errors.Join(err, logs.Close()); err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4096):])
}

// owner names this test binary to later runs.
func owner() string {
	host, _ := os.Hostname() // no name: only this host's own runs look at it, and they agree
	return host + ":" + strconv.Itoa(os.Getpid())
}

// removeStaleContainers removes what a watchdog could not: our containers older than an hour whose
// test binary is gone.
func (d *dockerBackend) removeStaleContainers(ctx context.Context) {
	found, err := d.provider.Client().ContainerList(ctx, client.ContainerListOptions{All: true, Filters: client.Filters{}.Add("label", ownerLabel)})
	if err != nil {
		return // the start of our own will tell what is wrong
	}
	host, _ := os.Hostname()
	for _, summary := range found.Items {
		if time.Since(time.Unix(summary.Created, 0)) < staleAge {
			continue
		}
		if pid, ours := strings.CutPrefix(summary.Labels[ownerLabel], host+":"); ours && processLives(pid) {
			continue
		}
		// Another run may be removing it too.
		_, _ = d.provider.Client().ContainerRemove(ctx, summary.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	}
}
