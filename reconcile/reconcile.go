package reconcile

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// Plan finds out what Run would do and changes nothing in the metastore or the bucket. It writes the
// report, and the journal if there is one. When it fails, the summary holds the indexes that were
// finished before.
func Plan(ctx context.Context, options Options) (*Summary, error) {
	return reconcile(ctx, options, false)
}

// Run rebuilds the rows that are lost. When it fails or its context ends, it may be called again with
// the same options, and the same journal, to go on.
func Run(ctx context.Context, options Options) (*Summary, error) {
	return reconcile(ctx, options, true)
}

// runner is one call of Plan or Run.
type runner struct {
	Options
	apply    bool
	root     Location // zero without Root
	indexes  []*metastore.IndexMetadata
	journal  *journal
	reporter *reporter

	progressMu sync.Mutex
	// decisions are those that a person could take.
	decisions map[string]bool
}

func reconcile(ctx context.Context, options Options, apply bool) (_ *Summary, err error) {
	options, err = options.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &runner{Options: options, apply: apply, reporter: newReporter(options.Report), decisions: map[string]bool{}}
	if options.Root != "" {
		if r.root, err = ParseLocation(options.Root, options.StorageParameters); err != nil {
			return nil, err
		}
	}
	r.journal, err = openJournal(options.Journal, ulid.MustNew(ulid.Now(), rand.Reader).String())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.journal.close()) }()
	summary := &Summary{Indexes: []IndexSummary{}}
	if err := r.all(ctx, summary); err != nil {
		return summary, errors.Join(err, r.reporter.flush())
	}
	return summary, r.reporter.end(summary)
}

func (r *runner) all(ctx context.Context, summary *Summary) error {
	patterns, err := indexconfig.ParseIndexIDPatterns([]string{"*"})
	if err != nil {
		return err
	}
	err = retryRead(ctx, func() error {
		r.indexes, err = r.Store.ListIndexesMetadata(ctx, patterns)
		return err
	})
	if err != nil {
		return fmt.Errorf("list the indexes of the metastore: %w", err)
	}
	targets, err := r.targets(ctx)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return r.nothing()
	}
	var failures []error
	for i, t := range targets {
		if err := ctx.Err(); err != nil && i > 0 {
			failures = append(failures, fmt.Errorf("%d of %d indexes were not reached: %w", len(targets)-i, len(targets), err))
			break
		}
		work := &indexWork{runner: r, target: t}
		err := work.do(ctx)
		if work.plan != nil {
			summary.Indexes = append(summary.Indexes, work.summary)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("index %s: %w", t.name, err))
		}
	}
	if len(failures) == 0 {
		if unknown := unknownDecisions(r.Accept, r.decisions); len(unknown) > 0 {
			return fmt.Errorf("%w: nothing asks for %s: its files may have changed since the plan", ErrUnknownDecision, strings.Join(unknown, ", "))
		}
	}
	return errors.Join(failures...)
}

// ErrUnknownDecision is wrapped by the error about a decision in Options.Accept that nothing asks for.
// What else was decided was done.
var ErrUnknownDecision = errors.New("a decision that was accepted is not known")

func (r *runner) nothing() error {
	if r.Root == "" {
		return errors.New("the metastore has no index, so it cannot tell where split files are: name the root of the buckets' directories")
	}
	return fmt.Errorf("the metastore has no index, and no directory of %s holds a split file: is the root right?", r.root)
}

func (r *runner) tell(p Progress) {
	r.progressMu.Lock()
	defer r.progressMu.Unlock()
	r.Progress(p)
}
