package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"holdfast/integration/pgtest"
	"holdfast/metastore"
	"holdfast/metastore/idempotency"
	"holdfast/metastore/rpc"
)

// client calls the server from Go.
func (s *server) client(t *testing.T, options rpc.ClientOptions) *rpc.Client {
	t.Helper()
	client, err := rpc.Dial(s.grpc, options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

// keyLifetime is what the server tells its clients, 0 if it takes no keys.
func (s *server) keyLifetime(t *testing.T) time.Duration {
	t.Helper()
	capabilities, err := s.client(t, rpc.ClientOptions{}).Capabilities(t.Context())
	require.NoError(t, err)
	return capabilities.IdempotencyKeyLifetime
}

func TestServeTellsHowLongItRemembersKeys(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		environ, args []string
		want          time.Duration
	}{
		"by default": {want: 30 * time.Minute},
		"as set":     {environ: []string{"HOLDFAST_IDEMPOTENCY_KEY_LIFETIME=2h"}, want: 2 * time.Hour},
		"not at all": {args: []string{"--idempotency-keys=false"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, test.environ, append([]string{"--store", "mem://"}, test.args...)...)
			require.Equal(t, test.want, s.keyLifetime(t))
		})
	}
}

func TestAKeyOfTheSetLifetimeIsHonoured(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, "--store", "mem://", "--idempotency-key-lifetime", "2h")
	create := []string{"index", "create", "--config", writeInput(t, withoutUID), "--idempotency-key", keyAt(time.Now().Add(-time.Hour))}
	s.ok(t, create...)
	require.Contains(t, s.ok(t, create...), "(executed by an earlier attempt)")
}

func TestServeRefusesCallsWithoutTheKeysThatItRequires(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := filepath.Join(dir, "settings.yaml")
	require.NoError(t, os.WriteFile(config, []byte("store: "+filepath.Join(dir, "data")+"\nidempotency_require_key_for: [DeleteIndex, StageSplits]\n"), 0o600))
	s := serve(t, []string{"HOLDFAST_CONFIG=" + config})
	s.ok(t, "index", "create", "--config", "testdata/inputs/web-access.index-config.json")
	s.ok(t, "split", "stage", "--index", "web-access", webAccessRows)
	s.ok(t, "split", "stage", "--index", "web-access", "--create-only", webAccessRows)
	client := s.client(t, rpc.ClientOptions{NoIdempotencyKeys: true})
	index, err := client.IndexMetadata(t.Context(), metastore.IndexLookup{IndexID: metastore.Some("web-access")})
	require.NoError(t, err)
	require.ErrorIs(t, client.DeleteIndex(t.Context(), index.IndexUID), &idempotency.Error{Reason: idempotency.KeyRequired})

	require.Equal(t, exitSuccess, s.stop(t))
	readOnly := serve(t, []string{"HOLDFAST_CONFIG=" + config}, "--read-only")
	readOnly.ok(t, "index", "describe", "web-access")
}

func TestWithoutKeysPostgreSQLHasNoSchemaOfOurs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		want bool
	}{
		"keys":    {want: true},
		"no keys": {args: []string{"--idempotency-keys=false"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := pgtest.Database(t)
			s := serve(t, []string{"HOLDFAST_STORE=" + dsn}, test.args...)
			s.ok(t, "index", "create", "--config", "testdata/inputs/web-access.index-config.json")
			conn, err := pgx.Connect(t.Context(), dsn)
			require.NoError(t, err)
			defer func() { require.NoError(t, conn.Close(t.Context())) }()
			var found bool
			require.NoError(t, conn.QueryRow(t.Context(), "SELECT to_regnamespace('holdfast') IS NOT NULL").Scan(&found))
			require.Equal(t, test.want, found)
		})
	}
}
