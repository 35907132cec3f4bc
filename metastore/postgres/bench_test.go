package postgres

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/metastore"
)

// The benchmarks compare ways to do the same work. The ways take turns within one run, so that what else the machine does
// hits all of them; the ratio is worth more than the numbers.

const benchClients = 16

// contender is one of the ways. The first of a list is the one that the others are compared with.
type contender struct {
	name string
	// work makes the call of that number, which no other call of this contender has.
	work func(call int) error

	next int
	took time.Duration
}

// compare has each contender make a number of calls in turn, by 16 clients, b.N times. It reports the calls and rows a
// second of each, and the first's speed in terms of each other's.
func compare(b *testing.B, rowsPerCall, callsPerTurn int, contenders ...*contender) {
	b.Helper()
	for _, c := range contenders {
		c.turn(b, benchClients) // connects, and fills caches
		c.took = 0
	}
	turns := 0
	for b.Loop() {
		for i := range contenders {
			// Each goes first as often as the others.
			contenders[(i+turns)%len(contenders)].turn(b, callsPerTurn)
		}
		turns++
	}
	speed := func(c *contender) float64 { return float64(turns*callsPerTurn) / c.took.Seconds() }
	for i, c := range contenders {
		b.ReportMetric(speed(c), c.name+"-calls/s")
		if rowsPerCall > 1 {
			b.ReportMetric(speed(c)*float64(rowsPerCall), c.name+"-rows/s")
		}
		if i > 0 {
			b.ReportMetric(speed(contenders[0])/speed(c), contenders[0].name+"/"+c.name)
		}
	}
	b.ReportMetric(0, "ns/op") // of all of them together, which says nothing
}

func (c *contender) turn(b *testing.B, calls int) {
	b.Helper()
	var group sync.WaitGroup
	var next atomic.Int64
	began := time.Now()
	for range benchClients {
		group.Go(func() {
			for {
				call := int(next.Add(1)) - 1
				if call >= calls {
					return
				}
				if err := c.work(c.next + call); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	c.took += time.Since(began)
	c.next += calls
}

var benchRun atomic.Int64

// batch returns splits with ids that no other call has.
func batch(n int) []metastore.SplitMetadata {
	prefix := fmt.Sprintf("%08d-", benchRun.Add(1))
	return splits(numberedIDs(prefix, n)...)
}

// fill stages n splits of one node, quickly, and returns their ids.
func fill(b *testing.B, store *Store, uid metastore.IndexUID, n int) []string {
	b.Helper()
	ids := make([]string, 0, n)
	for len(ids) < n {
		request := metastore.StageSplitsRequest{IndexUID: uid, Splits: batch(min(5000, n-len(ids)))}
		if _, err := store.StageSplits(context.Background(), request); err != nil {
			b.Fatal(err)
		}
		ids = append(ids, splitIDs(request.Splits)...)
	}
	exec(b, connect(b, store.options.DSN), "VACUUM ANALYZE splits")
	return ids
}

// sizeFromEnvironment returns a size that a run may change: large ones take minutes to fill.
func sizeFromEnvironment(b *testing.B, variable string, size int) int {
	b.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return size
	}
	size, err := strconv.Atoi(text)
	if err != nil {
		b.Fatalf("%s: %v", variable, err)
	}
	return size
}

// benchStore is a store with an index on a database of its own.
func benchStore(b *testing.B, options Options) (*Store, metastore.IndexUID) {
	b.Helper()
	store, _ := openStore(b, options)
	return store, createIndex(b, store, "logs")
}

// pgxPool connects as a program without a metastore would: pgx then keeps prepared statements.
func pgxPool(b *testing.B, dsn string) *pgxpool.Pool {
	b.Helper()
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		b.Fatal(err)
	}
	config.MaxConns = defaultMaxConns
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	return pool
}
