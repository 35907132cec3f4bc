package file

import (
	"log/slog"
	"time"

	"holdfast/metastore/idempotency"
)

// Options says where a store is and how it behaves. Only URL is required.
type Options struct {
	// URL is a directory ("./data", "file:///dir") or a bucket with an optional prefix
	// ("s3://bucket/prefix", "gs://bucket/prefix", "azblob://container/prefix" or "azure://..."), which may be
	// followed by the query parameters that gocloud.dev/blob documents for the service (package azure for
	// Azure's), or "mem://" for a store
	// that is forgotten when it is closed.
	URL string

	// Logger receives what concerns the operator. Default: nothing is logged.
	Logger *slog.Logger

	// ReadOnly refuses every change with Forbidden, and writes nothing to the storage at all: no object that proves
	// that the storage refuses to create one twice, no snapshot, no directory. So the credentials need no
	// right to write. A directory must exist. Other processes may write the store meanwhile.
	ReadOnly bool

	// Refresh is how old an answer may be with respect to the writes of other processes: the storage
	// is asked for news at most once in this time for each index. Default 0: before every read. The
	// own writes of the store are always visible, and changes are always decided on the newest state.
	Refresh time.Duration

	// SnapshotEntries and SnapshotBytes are how many entries, or bytes of entries, make a snapshot due.
	// A large index gets one less often: when entries add up to an eighth of the last snapshot, or at
	// ten times SnapshotEntries. Defaults: 1,000 and 8 MiB.
	SnapshotEntries uint64
	SnapshotBytes   int64

	// CommitTimeout is how long a commit may take, with its retries, until its callers are told that
	// its outcome is unknown, for a commit of less than 1 MiB; another second for each MiB. Default: 30
	// seconds.
	CommitTimeout time.Duration

	// MaxConcurrentChecks is how many indexes are asked for news, or loaded, at once by a call about
	// many indexes. Default: 32.
	MaxConcurrentChecks int

	// IdempotencyWindow says how long records of idempotency keys are kept. Default:
	// idempotency.DefaultWindow.
	IdempotencyWindow idempotency.Window

	// MaxIdempotencyRecords bounds the records that one log keeps, which are held in memory, about 400
	// bytes each. When there are as many, calls with keys are refused. Default: 200,000.
	MaxIdempotencyRecords int
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.SnapshotEntries == 0 {
		o.SnapshotEntries = 1000
	}
	if o.SnapshotBytes == 0 {
		o.SnapshotBytes = 8 << 20
	}
	if o.CommitTimeout == 0 {
		o.CommitTimeout = 30 * time.Second
	}
	if o.MaxConcurrentChecks == 0 {
		o.MaxConcurrentChecks = 32
	}
	if o.IdempotencyWindow == (idempotency.Window{}) {
		o.IdempotencyWindow = idempotency.DefaultWindow()
	}
	if o.MaxIdempotencyRecords == 0 {
		o.MaxIdempotencyRecords = 200_000
	}
	return o
}

// Times that make removing entries safe; see the package comment. They are far apart because a put
// that nobody waits for any more may still arrive.
const (
	confirmAge = 20 * time.Second
	removalAge = 2 * time.Minute
)

const (
	// putTimeout bounds one attempt to create an entry of less than 1 MiB.
	putTimeout = 10 * time.Second
	// maxConcurrentLoads bounds the memory that loading takes beyond what is loaded.
	maxConcurrentLoads = 4
)
