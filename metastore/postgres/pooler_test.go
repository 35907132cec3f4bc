package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"holdfast/integration/pgtest"
	"holdfast/metastore"
	"holdfast/metastore/storetest"
)

// openPooled opens a store through a transaction-pooling proxy. It returns the address of the database itself too.
func openPooled(t testing.TB, options Options) (store *Store, direct, pooled string) {
	t.Helper()
	direct = ready.Database(t)
	pooled = pgtest.TransactionPooler(t, direct)
	options.DSN = pooled
	return reopenStore(t, options), direct, pooled
}

func TestConformanceThroughATransactionPooler(t *testing.T) {
	t.Parallel()
	store, direct, _ := openPooled(t, Options{})
	storetest.Run(t, profileOf(direct), func(t *testing.T) metastore.Store { return store })
}

func TestATransactionPoolerCreatesTheSchemaOnce(t *testing.T) {
	t.Parallel()
	pooled := pgtest.TransactionPooler(t, pgtest.Database(t))
	created := make([]bool, 8)
	var group sync.WaitGroup
	for i := range created {
		group.Go(func() {
			report, err := Migrate(context.Background(), pooled, MigrateOptions{})
			if err != nil {
				t.Errorf("server %d: %v", i, err)
			}
			created[i] = report.Created
		})
	}
	group.Wait()
	times := 0
	for _, was := range created {
		if was {
			times++
		}
	}
	if times != 1 {
		t.Errorf("%d of %d servers created the schema, want 1", times, len(created))
	}
}

// Many servers, each with more connections than the pooler has sessions, whose calls share indexes and splits.
func TestManyServersShareOneTransactionPooler(t *testing.T) {
	t.Parallel()
	first, direct, pooled := openPooled(t, Options{})
	uid := createIndex(t, first, "logs")
	const servers, callers, rounds = 4, 8, 12
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	var group sync.WaitGroup
	for server := range servers {
		store := reopenStore(t, Options{DSN: pooled})
		for caller := range callers {
			group.Go(func() {
				for round := range rounds {
					ids := numberedIDs(fmt.Sprintf("s%d-c%d-r%d-", server, caller, round), 3)
					if err := liveOneLife(ctx, store, uid, ids); err != nil {
						t.Errorf("server %d, caller %d, round %d: %v", server, caller, round, err)
						return
					}
				}
			})
		}
	}
	group.Wait()
	counts := queryValue[string](t, connect(t, direct), `SELECT string_agg(split_state || ' ' || n, ', ' ORDER BY split_state)
		FROM (SELECT split_state, count(*) AS n FROM splits GROUP BY split_state) AS counted`)
	if want := fmt.Sprintf("Published %d", servers*callers*rounds); counts != want {
		t.Errorf("the database has %s, want %s", counts, want)
	}
}

// liveOneLife stages three splits, publishes two, replaces one of these by the third, deletes it, and looks at each step.
func liveOneLife(ctx context.Context, store *Store, uid metastore.IndexUID, ids []string) error {
	if _, err := store.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: splits(ids[:2]...)}); err != nil {
		return err
	}
	if _, err := store.StageSplits(ctx, metastore.StageSplitsRequest{IndexUID: uid, Splits: splits(ids...), CreateOnly: true}); err != nil {
		return err
	}
	if err := store.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: ids[:2]}); err != nil {
		return err
	}
	if err := store.PublishSplits(ctx, metastore.PublishSplitsRequest{IndexUID: uid, StagedSplitIDs: ids[2:], ReplacedSplitIDs: ids[:2]}); err != nil {
		return err
	}
	query := metastore.AllSplits(uid)
	query.IncludedSplitIDs = ids
	var states []string
	if err := store.ListSplits(ctx, query, func(row *metastore.SplitRow) error {
		states = append(states, row.State.String())
		return nil
	}); err != nil {
		return err
	}
	if got := strings.Join(states, " "); strings.Count(got, "MarkedForDeletion") != 2 || strings.Count(got, "Published") != 1 {
		return fmt.Errorf("splits %v are %s", ids, got)
	}
	return store.DeleteSplits(ctx, uid, ids[:2])
}

// D1.1 of the checklist in interop_test.go.
func TestSessionsThroughATransactionPoolerAreInUTC(t *testing.T) {
	t.Parallel()
	direct := ready.Database(t)
	exec(t, connect(t, direct), "ALTER DATABASE "+pgx.Identifier{databaseOf(t, direct)}.Sanitize()+" SET timezone = 'Asia/Tokyo'")
	pooled := pgtest.TransactionPooler(t, direct)
	store := reopenStore(t, Options{DSN: pooled})

	// Neighbours leave their own time zone in each of the sessions, again and again.
	for range 3 * pgtest.PoolerSessions {
		neighbour := connectPooled(t, pooled, "America/New_York")
		if zone := queryValue[string](t, neighbour, "SHOW timezone"); zone != "America/New_York" {
			t.Fatalf("the neighbour's session is in %s", zone)
		}
		var zone string
		err := store.read(context.Background(), "asking for the time zone", func() []query {
			return []query{{sql: "SELECT current_setting('timezone')", row: func(row columns) error {
				zone = row.text(0)
				return nil
			}}}
		})
		if err != nil || zone != "UTC" {
			t.Fatalf("the store's session is in %q, error %v, want UTC", zone, err)
		}
	}

	uid := createIndex(t, store, "logs")
	stage(t, store, uid, "a")
	publish(t, store, uid, "a")
	if !queryValue[bool](t, connect(t, direct), `SELECT bool_and(abs(extract(epoch FROM now() AT TIME ZONE 'utc' - stamp)) < 3600)
		FROM splits, LATERAL (VALUES (create_timestamp), (update_timestamp), (publish_timestamp)) AS stamps (stamp)`) {
		t.Error("the times of the row are not in UTC")
	}
}

// connectPooled opens a session of another client, in a time zone, as poolers can serve it.
func connectPooled(t testing.TB, pooled, timezone string) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(pooled)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.RuntimeParams["timezone"] = timezone
	conn, err := pgx.ConnectConfig(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // the pooler may be gone by then
	return conn
}

func databaseOf(t testing.TB, dsn string) string {
	t.Helper()
	return queryValue[string](t, connect(t, dsn), "SELECT current_database()")
}

// A cancelled call must not hit the call of another client that has its session by then.
func TestCallsCancelledThroughATransactionPoolerDisturbNobody(t *testing.T) {
	t.Parallel()
	store, _, pooled := openPooled(t, Options{})
	uid := createIndex(t, store, "logs")
	impatient := reopenStore(t, Options{DSN: pooled})
	var group sync.WaitGroup
	for caller := range 4 {
		group.Go(func() {
			for round := range 25 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(round%5)*time.Millisecond)
				// It fails or not; what counts is that nobody else notices.
				_ = liveOneLife(ctx, impatient, uid, numberedIDs(fmt.Sprintf("i%d-%d-", caller, round), 3))
				cancel()
			}
		})
		group.Go(func() {
			for round := range 25 {
				if err := liveOneLife(context.Background(), store, uid, numberedIDs(fmt.Sprintf("p%d-%d-", caller, round), 3)); err != nil {
					t.Errorf("a call that nobody cancelled: %v", err)
					return
				}
			}
		})
	}
	group.Wait()
}

func TestPreparedStatementsAreNotForTransactionPoolers(t *testing.T) {
	t.Parallel()
	pooled := pgtest.TransactionPooler(t, ready.Database(t))
	_, err := Open(context.Background(), Options{DSN: pooled, PreparedStatements: true})
	var typed *metastore.Error
	if !errors.As(err, &typed) || typed.Kind != metastore.KindInvalidArgument || !strings.Contains(err.Error(), "prepared statements") {
		t.Fatalf("got error %v, want one that says that prepared statements do not go together with the pooler", err)
	}
}
