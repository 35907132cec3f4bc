package pgtest

import (
	"strings"
	"testing"
)

func TestUnknownModeIsRefused(t *testing.T) {
	t.Parallel()
	_, err := chooseBackend("podman")
	if err == nil || !strings.Contains(err.Error(), modeVariable) {
		t.Errorf("the error is %v, want one that names %s", err, modeVariable)
	}
}

func TestAddressThatCannotBeParsedIsRefusedWithoutItsPassword(t *testing.T) {
	t.Parallel()
	_, err := useExisting("postgres://user:hunter2@host:port/")
	if err == nil || !strings.Contains(err.Error(), modeVariable) {
		t.Fatalf("the error is %v, want one that names %s", err, modeVariable)
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error %q holds the password", err)
	}
}

func TestPublishedPortsAreReachedWhereTheEngineIs(t *testing.T) {
	t.Parallel()
	for daemon, want := range map[string]string{
		"unix:///var/run/docker.sock":    loopback,
		"npipe:////./pipe/docker_engine": loopback,
		"tcp://127.0.0.5:2375":           "127.0.0.5",
	} {
		got, err := publishedHost(daemon)
		if err != nil || got != want {
			t.Errorf("for the engine at %s: %q (%v), want %q", daemon, got, err, want)
		}
	}
}

func TestDatabaseNamesAreUniqueAndFitPostgreSQL(t *testing.T) {
	t.Parallel()
	long := "TestÜber/" + strings.Repeat("x", 200)
	first, second := databaseName(long), databaseName(long)
	if first == second {
		t.Errorf("two names are both %s", first)
	}
	if len(first) > 63 {
		t.Errorf("the name %s has %d bytes, PostgreSQL cuts it at 63", first, len(first))
	}
}
