package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"holdfast/integration/binary"
	"holdfast/integration/pgtest"
	"holdfast/metastore"
	"holdfast/metastore/file"
	"holdfast/metastore/idempotency"
	"holdfast/metastore/postgres"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const (
	numClients = 8
	// killEvery and crashEvery are how many calls are answered between two disturbances.
	killEvery  = 250
	crashEvery = 5 // disturbances, of a store that can crash
)

// setting reads a number from the environment.
func setting(t *testing.T, name string, absent uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return absent
	}
	n, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err, name)
	return n
}

func numCalls(t *testing.T) int {
	t.Helper()
	calls := uint64(20_000)
	if os.Getenv("HOLDFAST_LONG") != "" {
		calls = 500_000
	}
	return int(setting(t, "HOLDFAST_CHAOS_CALLS", calls))
}

// run is chaos on one store.
type run struct {
	store string
	calls int
	seed  uint64
	open  func(ctx context.Context) (metastore.Store, error)
	// crash ends the database and brings it back; nil if there is none.
	crash func(t *testing.T, random *rand.Rand)
	// numRecords counts the idempotency records.
	numRecords func(t *testing.T) int64
	// stageTime is set if splits have the time at which they were staged as that of their creation.
	stageTime bool
}

func TestEveryKeyedCallToTwoServersRunsOnce(t *testing.T) {
	t.Parallel()
	metastoreBinary := binary.Build(t)
	calls := numCalls(t)
	t.Run("on a directory", func(t *testing.T) {
		t.Parallel()
		directory := filepath.Join(t.TempDir(), "store")
		chaos(t, metastoreBinary, run{store: directory, calls: calls, open: func(ctx context.Context) (metastore.Store, error) {
			return file.Open(ctx, file.Options{URL: directory})
		}, numRecords: func(t *testing.T) int64 { return numRecordsOf(t, directory) }})
	})
	t.Run("on a database that crashes", func(t *testing.T) {
		t.Parallel()
		database := pgtest.PrivateServer(t)
		dsn := database.DSN(database.Database(t))
		_, err := postgres.Migrate(t.Context(), dsn, postgres.MigrateOptions{})
		require.NoError(t, err)
		chaos(t, metastoreBinary, run{store: dsn, calls: calls, open: func(ctx context.Context) (metastore.Store, error) {
			return postgres.Open(ctx, postgres.Options{DSN: dsn})
		}, crash: func(t *testing.T, random *rand.Rand) {
			if random.IntN(3) == 0 {
				database.Stop(t)
			} else {
				database.Kill(t)
			}
			database.Start(t)
		}, stageTime: true, numRecords: func(t *testing.T) (n int64) {
			conn, err := pgx.Connect(t.Context(), dsn)
			require.NoError(t, err)
			defer func() { require.NoError(t, conn.Close(t.Context())) }()
			require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM holdfast.idempotency_records").Scan(&n))
			return n
		}})
	})
}

// chaos has clients send calls while servers are killed, and compares what is stored with what they expect.
func chaos(t *testing.T, binary string, r run) {
	t.Helper()
	r.seed = setting(t, "HOLDFAST_CHAOS_SEED", uint64(time.Now().UnixNano()))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to repeat: HOLDFAST_CHAOS_SEED=%d HOLDFAST_CHAOS_CALLS=%d", r.seed, r.calls)
		}
	})
	began := time.Now()
	servers := [2]*server{newServer(t, binary, r.store, r.seed+1), newServer(t, binary, r.store, r.seed+2)}
	shared := createShared(t, r)
	counts, due := &counts{}, make(chan struct{}, 1)
	progress := func(answered int64) {
		if answered%killEvery == 0 {
			select {
			case due <- struct{}{}:
			default: // one is due already
			}
		}
	}
	clients := make([]*client, numClients)
	for i := range clients {
		retryAttempts := 1 + i%2*2
		clients[i] = &client{
			caller: newCaller(t, servers, retryAttempts, rand.New(rand.NewPCG(r.seed, uint64(numClients+i)))),
			name:   fmt.Sprintf("client-%d", i), random: rand.New(rand.NewPCG(r.seed, uint64(i))), shared: startOf(shared), templates: map[string]uint64{},
		}
		clients[i].single = retryAttempts == 1 && r.crash == nil
		clients[i].counts, clients[i].progress = counts, progress
	}
	kills, crashes := r.disturb(t, servers, due, work(t, clients, r.calls))
	var cuts [3]int64
	for _, s := range servers {
		for i, n := range []*atomic.Int64{&s.proxy.before, &s.proxy.during, &s.proxy.after} {
			cuts[i] += n.Load()
		}
	}
	t.Logf("%d calls answered, %d repeated of which %d had been executed, %d checked; %d kills, %d crashes of the database, connections cut before, during and after a call: %d",
		counts.answered.Load(), counts.repeated.Load(), counts.replayed.Load(), counts.checked.Load(), kills, crashes, cuts)
	if t.Failed() {
		return
	}
	store, err := r.open(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	found, err := observed(t.Context(), store, began, r.stageTime)
	require.NoError(t, err)
	want, err := expected(clients)
	require.NoError(t, err)
	reportDifference(t, want, found)
	for _, c := range clients {
		floor, err := store.DeleteOpstampFloor(t.Context(), c.own.uid)
		require.NoError(t, err)
		require.GreaterOrEqual(t, floor, c.own.floor, "the floor of delete opstamps of %s", c.own.uid)
	}
	if window := idempotency.DefaultWindow(); time.Since(began) < window.Lifetime {
		require.Equal(t, counts.succeeded.Load(), r.numRecords(t), "each call that succeeded has a record, and no other call")
	}
	require.Positive(t, kills, "servers were killed")
	require.Equal(t, r.crash != nil, crashes > 0, "the database crashed")
	require.Positive(t, counts.replayed.Load(), "answers were lost and calls repeated")
	require.Positive(t, counts.checked.Load())
	for i, cut := range []string{"before", "during", "after"} {
		require.Positive(t, cuts[i], "connections were cut %s a call", cut)
	}
}

// numRecordsOf counts the idempotency records in all logs of a file store. All indexes that were ever created must exist.
func numRecordsOf(t *testing.T, directory string) int64 {
	t.Helper()
	store, err := file.Open(t.Context(), file.Options{URL: directory})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	content, err := store.Content(t.Context())
	require.NoError(t, err)
	records := content.Records
	for _, id := range content.IndexIDs {
		exported, err := store.ExportIndex(t.Context(), id)
		require.NoError(t, err)
		records += exported.Records
	}
	return int64(records)
}

// createShared makes the index that all clients use.
func createShared(t *testing.T, r run) metastore.IndexUID {
	t.Helper()
	store, err := r.open(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	request, err := indexConfig(sharedIndex)
	require.NoError(t, err)
	metadata, err := store.CreateIndex(t.Context(), request)
	require.NoError(t, err)
	return metadata.IndexUID
}

// reportDifference fails if the states differ, and shows where.
func reportDifference(t *testing.T, want, got []string) {
	t.Helper()
	const most = 40
	shown := 0
	for i, j := 0, 0; (i < len(want) || j < len(got)) && shown < most; {
		switch {
		case j == len(got) || i < len(want) && want[i] < got[j]:
			t.Errorf("missing: %s", want[i])
			i, shown = i+1, shown+1
		case i == len(want) || got[j] < want[i]:
			t.Errorf("not expected: %s", got[j])
			j, shown = j+1, shown+1
		default:
			i, j = i+1, j+1
		}
	}
}
