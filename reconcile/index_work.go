package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/reconcile/containment"
	"holdfast/reconcile/evidence"
	"holdfast/reconcile/lineage"
	"holdfast/reconcile/splitfile"
)

// indexWork is the work on one index.
type indexWork struct {
	*runner
	target
	bucket  Bucket
	summary IndexSummary

	// indexConfig is that of the metastore, or the one to create the index with; nil if there is none.
	indexConfig *indexconfig.IndexConfig
	// fields are those that the rows of legacy files tell of.
	fields   evidence.Fields
	limiter  *limiter
	adaptive splitfile.Adaptive
	countMu  sync.Mutex // guards summary while files are read at once

	listing *listing
	objects []splitObject // sorted by id
	byID    map[string]*splitObject
	uid     metastore.IndexUID // of the metastore; zero if it lacks the index
	// toCreate is the incarnation to create a missing index with, absent for a new one; cannotKeep says that the server
	// cannot create it with that one.
	toCreate   metastore.Optional[ulid.ULID]
	cannotKeep bool
	rows       map[string]row
	plan       *lineage.Plan
	// readAll says that whoever was asked allowed to read more than the limit, asked that he was asked.
	readAll, asked bool
	// compared is what the contents prove, nil if they were not compared; proofs are its verdicts by id.
	compared *containment.Result
	proofs   map[string]containment.Verdict
	toDecide map[string]string // decisions that a person may take, by split id
	items    []item            // in the order of the plan's decisions
	found    []Finding
}

// item is one object with what is decided about it and what became of it.
type item struct {
	object   *splitObject
	decision *lineage.Decision
	kind     string // the decision's name; another one than the decision's when it cannot be carried out
	reason   string
	outcome  Outcome
	detail   string
	before   metastore.SplitState // 0: no row
	after    metastore.SplitState
	// abandoned says that an earlier run staged the row and that it was marked before it was published.
	abandoned bool
	// fileAfter is what was wrong with the file once its row was published.
	fileAfter error
}

func (w *indexWork) publishes() int64 {
	n := int64(0)
	for i := range w.items {
		if w.items[i].kind == lineage.Publish.String() {
			n++
		}
	}
	return n
}

func (w *indexWork) do(ctx context.Context) error {
	return w.withBucket(ctx, w.location, func(bucket Bucket) error {
		w.bucket = bucket
		if err := w.scan(ctx); err != nil {
			return err
		}
		if err := w.findIndex(ctx); err != nil {
			return err
		}
		if err := w.decide(ctx); err != nil {
			return err
		}
		var applying error
		if w.apply {
			applying = w.applyPlan(ctx)
		}
		w.summarize()
		return errors.Join(applying, w.report())
	})
}

// scan lists and reads the split files.
func (w *indexWork) scan(ctx context.Context) error {
	var err error
	w.listing, err = list(ctx, w.bucket, func(found int64) {
		w.tell(Progress{IndexID: w.name, Phase: Listing, Done: found})
	})
	if errors.Is(err, fs.ErrNotExist) {
		w.listing, err = &listing{}, nil // believed only after the checks of emptyListing
	}
	if err != nil {
		return err
	}
	w.limiter = newLimiter(w.Concurrency)
	reader := &splitReader{
		bucket: w.bucket, location: w.location, journal: w.journal, limiter: w.limiter, workers: w.Concurrency,
		adaptive: &w.adaptive,
	}
	if !w.Lineage.Live {
		w.fields = w.fieldsBefore()
		reader.fields = &w.fields
	}
	done := Progress{IndexID: w.name, Phase: Reading, Total: int64(len(w.listing.splits))}
	reader.progress = func(read splitRead) {
		w.progressMu.Lock()
		defer w.progressMu.Unlock()
		done.Done++
		done.Bytes += read.bytes
		w.Progress(done)
	}
	w.objects, err = reader.read(ctx, w.listing.splits)
	if err != nil {
		return fmt.Errorf("read the split files: %w", err)
	}
	w.summary.Reads = reader.stats
	slices.SortFunc(w.objects, func(a, b splitObject) int { return cmp.Compare(a.id, b.id) })
	w.byID = make(map[string]*splitObject, len(w.objects))
	for i := range w.objects {
		w.byID[w.objects[i].id] = &w.objects[i]
	}
	return nil
}

// findIndex finds the index of the files in the metastore, or creates it when Run was given its
// configuration, and lists its rows.
func (w *indexWork) findIndex(ctx context.Context) error {
	if w.indexID == "" {
		w.nameIndex()
	}
	w.summary.IndexID, w.summary.Location = w.indexID, w.location.String()
	index, err := w.lookUp(ctx)
	if err != nil {
		return err
	}
	if index == nil && w.config(w.indexID) != nil {
		w.checkLocation(w.config(w.indexID))
		if err := w.chooseIncarnation(ctx); err != nil {
			return err
		}
		if w.apply && !w.cannotKeep && !w.blocked() {
			if index, err = w.createIndex(ctx); err != nil {
				return err
			}
		}
	} else if index != nil {
		w.checkLocation(index.Config)
	}
	if index == nil {
		w.summary.Missing = true
		if w.config(w.indexID) == nil {
			w.summary.Skeleton = w.inferSkeleton(ctx)
		}
		return nil
	}
	w.uid = index.IndexUID
	if index.Config != nil {
		w.indexConfig = index.Config
	}
	w.rows, err = listRows(ctx, w.Store, w.uid)
	return err
}

// nameIndex takes the index id that most files of a discovered directory name. Its name is a guess
// only, for a directory of legacy files.
func (w *indexWork) nameIndex() {
	count := map[string]int{}
	for i := range w.objects {
		if w.objects[i].content == lineage.WithEntry {
			count[w.objects[i].metadata.IndexUID.IndexID]++
		}
	}
	w.indexID = w.name
	best := 0
	for _, id := range slices.Sorted(maps.Keys(count)) {
		if count[id] > best {
			w.indexID, best = id, count[id]
		}
	}
	switch {
	case best == 0:
		w.add(findingNameGuessed(w.name))
	case w.indexID != w.name:
		w.add(w.findingNameDiffers())
	}
}

// lookUp returns nil if the metastore lacks the index.
func (w *indexWork) lookUp(ctx context.Context) (index *metastore.IndexMetadata, err error) {
	err = retryRead(ctx, func() error {
		index, err = w.Store.IndexMetadata(ctx, metastore.IndexLookup{IndexID: metastore.Some(w.indexID)})
		return err
	})
	if errors.Is(err, metastore.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up the index: %w", err)
	}
	return index, nil
}

// decide judges every object. Nothing is written before it has ended.
func (w *indexWork) decide(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.tell(Progress{IndexID: w.name, Phase: Deciding, Total: int64(len(w.objects))})
	if err := w.fillLegacy(ctx); err != nil {
		return err
	}
	objects := make([]lineage.Object, len(w.objects))
	for i := range w.objects {
		objects[i] = w.objects[i].lineageObject()
	}
	if w.Lineage.Live && !w.summary.Missing {
		if err := w.compareScans(objects); err != nil {
			return err
		}
	}
	rows := make([]lineage.Row, 0, len(w.rows))
	for id, r := range w.rows {
		rows = append(rows, r.lineageRow(id, w.byID[id], w.journal.mayHaveStaged(w.uid, id)))
	}
	options := w.Lineage
	options.IndexUID = metastore.IndexUID{IndexID: w.indexID, Incarnation: w.uid.Incarnation}
	options.Aliases = w.aliases()
	var err error
	if w.plan, err = lineage.Decide(objects, rows, options); err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	if w.compared, err = w.compareContents(ctx, w.plan); err != nil {
		return fmt.Errorf("compare contents: %w", err)
	}
	if w.compared != nil {
		w.verdicts(w.compared, objects)
		if w.plan, err = lineage.Decide(objects, rows, options); err != nil {
			return fmt.Errorf("decide: %w", err)
		}
	}
	if err := w.findPartitions(ctx); err != nil {
		return err
	}
	w.items = make([]item, len(w.plan.Decisions))
	for i := range w.plan.Decisions {
		w.items[i] = w.newItem(&w.plan.Decisions[i])
	}
	if err := w.planOpstamps(ctx); err != nil {
		return err
	}
	w.addFindings()
	if err := w.findStagedAndLost(); err != nil {
		return err
	}
	if err := w.confirmFindings(ctx); err != nil {
		return err
	}
	w.tell(Progress{IndexID: w.name, Phase: Deciding, Done: int64(len(w.objects)), Total: int64(len(w.objects))})
	return nil
}

func (w *indexWork) newItem(decision *lineage.Decision) item {
	it := item{
		object: w.byID[decision.ID], decision: decision, kind: decision.Kind.String(), reason: decision.Reason.String(),
		outcome: OutcomeNone, before: decision.Row, after: decision.Row,
	}
	it.abandoned = w.takenAsAbandoned(decision.ID, w.rows[decision.ID])
	if decision.Kind != lineage.Publish {
		if decision.Kind == lineage.UnreadableObject {
			it.detail = it.object.problem
		}
		return it
	}
	if !it.object.tellsRow() {
		it.kind, it.reason = lineage.Withheld.String(), reasonLegacyRow
		it.detail = "it would be published, but its row was not derived from the file"
		return it
	}
	it.outcome, it.after = OutcomePlanned, metastore.Published
	if w.apply {
		it.outcome, it.after = OutcomeNotTried, decision.Row
	}
	return it
}

// reasonLegacyRow is the reason of a decision withheld: a legacy file's row was not derived.
const reasonLegacyRow = "legacy-row"

// aliases are the earlier incarnations of the index whose splits still belong to it: those that the
// caller names; those of files whose rows the index has; and, when the index was created anew, the
// greatest one. It was if no file is of its incarnation, nor was any that a published row had.
func (w *indexWork) aliases() []metastore.IndexUID {
	var aliases []metastore.IndexUID
	add := func(uid metastore.IndexUID) {
		if uid.IndexID == w.indexID && uid != w.uid && !slices.Contains(aliases, uid) {
			aliases = append(aliases, uid)
		}
	}
	for _, uid := range w.Lineage.Aliases {
		add(uid)
	}
	if w.summary.Missing {
		return aliases
	}
	own := false
	for i := range w.objects {
		object := &w.objects[i]
		if object.content != lineage.WithEntry || object.metadata.IndexUID.IndexID != w.indexID {
			continue
		}
		uid := object.metadata.IndexUID
		own = own || uid == w.uid
		if _, has := w.rows[object.id]; has {
			add(uid)
		}
	}
	if greatest := w.greatestUID(); !own && greatest.IndexID != "" && !w.hadFiles() {
		add(greatest)
	}
	if len(aliases) > 0 {
		w.summary.RecoveredUID = aliases[len(aliases)-1].String()
	}
	return aliases
}

// hadFiles reports whether the index has a published row whose file is not in the directory.
func (w *indexWork) hadFiles() bool {
	for id, r := range w.rows {
		if r.state == metastore.Published && w.byID[id] == nil {
			return true
		}
	}
	return false
}
