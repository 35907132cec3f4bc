package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/reconcile/lineage"
)

// Options say what to reconcile. Store is required, and one of Root, IndexURIs and an index of the
// store that has a readable URI.
type Options struct {
	// Store is the metastore: a store, or a client of a server. A client should not repeat staging
	// calls by itself (rpc.ClientOptions.RetryAttempts 1): the answer of a repeated call does not tell
	// whose the rows are that it found.
	Store metastore.Store

	// Root is a directory that holds one directory for each index, as the peer's default index root
	// does. Empty means that each index's own URI is read.
	Root string
	// IndexIDs are the indexes to reconcile. Empty means all: those that the store knows and, with a
	// Root, those whose split files lie there.
	IndexIDs []string
	// IndexURIs are the directories of single indexes, by index id. They win over Root.
	IndexURIs map[string]string
	// StorageParameters is the query of the URLs that have none: gocloud.dev/blob documents what each
	// storage understands (endpoint, region, use_path_style, ...).
	StorageParameters string

	// IndexConfigs are the configurations of indexes that the store may lack. Run creates them.
	IndexConfigs []*indexconfig.IndexConfig
	// Incarnation says with which incarnation. The zero value keeps that of the files.
	Incarnation IncarnationPolicy

	// Lineage holds what is known about the cluster. IndexUID is ignored. Of Aliases those are used
	// that have the id of the index at hand.
	Lineage lineage.Options

	// Journal is the path of a file that spares reads in later runs and remembers which rows were
	// staged, so that a run that was killed can be finished by the next one. Empty means none.
	Journal string
	// Report receives JSON lines; see Record. Nil means none.
	Report io.Writer

	// MaxRead is how many bytes of documents are read in one index to compare files that say nothing of
	// their parents. Absent means 1 GB. What would take more is decided without, or left to a person.
	MaxRead metastore.Optional[int64]
	// BeforeReading is told what is going to be read, before it is, and may allow more than MaxRead. Nil
	// allows nothing more.
	BeforeReading func(ReadPlan) (allow bool)
	// Full compares documents where the checksums of their blocks would prove the same. It reads all that
	// was replaced, and notices if what is there is not what was written.
	Full bool
	// Accept are the ids of the decisions of the report that a person has taken.
	Accept []string

	// Concurrency is the most footers that are read at once. 0 means 32.
	Concurrency int
	// BatchSplits and BatchBytes bound the splits that are staged and published in one call, and the
	// bytes of their documents. 0 means 256 and 4 MiB. The message limit of the peer is 20 MiB.
	BatchSplits int
	BatchBytes  int
	// Settle is how long Run waits for rows that other workers staged to be published by them, and for a
	// janitor that runs after all to mark old rows that it may have chosen. 0 means 10 s.
	Settle time.Duration
	// Grace is how long a batch that was begun may take when the context ends. 0 means 15 s.
	Grace time.Duration

	// CommandFlags are the flags that name the server, for the commands in findings; ReconcileFlags
	// those that name the server or store and the files, for the commands that reconcile again.
	CommandFlags, ReconcileFlags []string
	// Progress is told what is going on, never by two goroutines at once. Nil means nobody.
	Progress func(Progress)
	// OpenBucket opens a directory. Nil means Location.Open.
	OpenBucket func(context.Context, Location) (Bucket, error)

	// now is the clock that the age of rows is measured with. It differs from time.Now in tests only.
	now func() time.Time
}

// Progress is how far one phase of one index is.
type Progress struct {
	IndexID string
	Phase   Phase
	Done    int64 // objects
	Total   int64 // objects; 0 when not known
	Bytes   int64 // sizes of the objects done
}

// ReadPlan is what is going to be read of the documents in an index's files.
type ReadPlan struct {
	IndexID string
	Files   int
	Bytes   int64
	Before  int64 // bytes that were read already
	Most    int64 // the limit
}

// Exceeds reports whether reading it exceeds the limit.
func (p ReadPlan) Exceeds() bool { return p.Before+p.Bytes > p.Most }

// Phase is a part of the work on an index.
type Phase string

// The phases, in their order. Comparing is for files without recovery entries only, Applying is Run's
// only.
const (
	Listing   Phase = "list"
	Reading   Phase = "read"
	Deciding  Phase = "decide"
	Comparing Phase = "compare"
	Applying  Phase = "apply"
)

func (o Options) withDefaults() (Options, error) {
	if o.Store == nil {
		return o, errors.New("reconcile: options: Store is missing")
	}
	for name, value := range map[string]int64{
		"Concurrency": int64(o.Concurrency), "BatchSplits": int64(o.BatchSplits), "BatchBytes": int64(o.BatchBytes),
		"Settle": int64(o.Settle), "Grace": int64(o.Grace),
	} {
		if value < 0 {
			return o, fmt.Errorf("reconcile: options: %s is negative", name)
		}
	}
	if !o.MaxRead.Set {
		o.MaxRead = metastore.Some[int64](1_000_000_000)
	}
	if o.BeforeReading == nil {
		o.BeforeReading = func(ReadPlan) bool { return false }
	}
	setDefault(&o.Concurrency, 32)
	setDefault(&o.BatchSplits, 256)
	setDefault(&o.BatchBytes, 4<<20)
	setDefault(&o.Settle, 10*time.Second)
	setDefault(&o.Grace, 15*time.Second)
	if o.Report == nil {
		o.Report = io.Discard
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.now == nil {
		o.now = time.Now
	}
	if o.OpenBucket == nil {
		o.OpenBucket = func(ctx context.Context, at Location) (Bucket, error) { return at.Open(ctx) }
	}
	return o, nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (o *Options) config(indexID string) *indexconfig.IndexConfig {
	for _, config := range o.IndexConfigs {
		if config.IndexID == indexID {
			return config
		}
	}
	return nil
}
