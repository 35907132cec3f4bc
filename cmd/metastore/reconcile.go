package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/openstore"
	"holdfast/cmd/metastore/internal/output"
	"holdfast/cmd/metastore/internal/secrets"
	"holdfast/metastore"
	"holdfast/metastore/rpc"
	"holdfast/reconcile"
	"holdfast/reconcile/lineage"
)

// exitNeedsPerson is the exit status when something was found that only a person can decide.
const exitNeedsPerson = 3

// errNeedsPerson ends a command whose work is done, but for what a person has to look at. It is not
// printed: the result says it.
var errNeedsPerson = errors.New("something needs a person")

const reconcileHelp = `Compare the split files in a bucket with the rows of a metastore, and rebuild the rows that
are lost from the files.

plan says what is there, what run would do and why; it changes nothing. run creates an index
whose --index-config it has and the metastore lacks, raises the counter of delete opstamps
where new delete tasks would skip recovered splits, stages what is missing in create-only
mode and publishes what it staged itself. Neither deletes a file, changes a row that exists,
or publishes a row that somebody else staged. run may be killed and repeated at any time, and
any number of workers may run at once.

Before run, freeze the index: stop indexers, mergers and above all the janitor. The runbook
is docs/recovery.md.

The files are looked for in --bucket, a directory or URL that holds one directory for each
index; or at --index-uri; or, without both, at the URI of each index in the metastore. URLs:
file:///dir, s3://bucket/prefix, gs://, azblob:// or azure://. Query parameters such as
?endpoint=http://minio:9000&use_path_style=true&region=us-east-1 are those of gocloud.dev;
Azure has ?endpoint=http://azurite:10000/devstoreaccount1 besides.

The exit status is 0 when nothing was to be done or all was done, 1 on failure, 2 when the
command line is wrong, and 3 when something needs a person.`

const reconcileExample = `  metastore reconcile plan --server 127.0.0.1:7281 --bucket s3://my-bucket/indexes --report plan.jsonl
  metastore reconcile run --server 127.0.0.1:7281 --bucket s3://my-bucket/indexes --report run.jsonl
  metastore reconcile run --store ./data --bucket ./indexes --index-config web-access.json`

// reconcileFlags are the flags of plan and run.
type reconcileFlags struct {
	clientFlags
	store        string
	bucket       string
	indexes      []string
	indexURIs    []string
	indexConfigs []string
	incarnation  string
	parameters   string
	report       string
	journal      string
	concurrency  int

	gcHealthy          bool
	referenceTime      string
	horizon            time.Duration
	ignoreLastModified bool
	aliases            []string
	youngL0            string
	hiddenLink         string
	adoptStaged        bool
	live               bool
	liveRecover        bool
	maxRead            string
	full               bool
	accept             []string
}

// defaultJournal is where run remembers what it did.
const defaultJournal = "metastore-reconcile.journal"

// The values of --incarnation.
const (
	incarnationKeep = "keep"
	incarnationNew  = "new"
)

// noJournal turns the journal off.
const noJournal = "none"

func (c *command) reconcile() *cobra.Command {
	return c.group("reconcile", "Rebuild a lost metastore from the split files", reconcileHelp,
		c.reconcileCommand("plan", "Say what run would do, and why", reconcile.Plan),
		c.reconcileCommand("run", "Rebuild the rows that are lost", reconcile.Run))
}

func (c *command) reconcileCommand(name, short string, do func(context.Context, reconcile.Options) (*reconcile.Summary, error)) *cobra.Command {
	f := &reconcileFlags{}
	cmd := &cobra.Command{
		Use: name + " [--server HOST:PORT | --store URL] [--bucket URL] [--index ID]...", Short: short, Long: reconcileHelp, Example: reconcileExample, Args: cobra.NoArgs,
		RunE: c.work(func(cmd *cobra.Command, _ []string) error {
			// The settings may hold a store for serve, which is not meant here.
			if !cmd.Flags().Changed("store") {
				f.store = ""
			} else if cmd.Flags().Changed("server") {
				return usagef("--server and --store exclude each other")
			}
			return c.runReconcile(cmd, f, name, do)
		}),
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.store, "store", "", "open this store directly instead of calling a server")
	flags.StringVar(&f.bucket, "bucket", "", "directory or URL that holds one directory for each index")
	flags.StringArrayVar(&f.indexes, "index", nil, "id of an index to reconcile, may be repeated (default all)")
	flags.StringArrayVar(&f.indexURIs, "index-uri", nil, "`ID=URL`: where the files of an index are, may be repeated")
	flags.StringArrayVar(&f.indexConfigs, "index-config", nil, "`file` with the config of an index to create if the metastore lacks it, may be repeated")
	flags.StringVar(&f.incarnation, "incarnation", incarnationKeep, "incarnation of an index that is created: keep that of its files, or a new one")
	flags.StringVar(&f.parameters, "storage-parameters", "", "query parameters for URLs that have none, such as endpoint=...&use_path_style=true")
	flags.StringVar(&f.report, "report", "", "write one JSON line for each object and finding to this `file`")
	journal := ""
	if name == "run" {
		journal = defaultJournal
	}
	flags.StringVar(&f.journal, "journal", journal, "`file` that spares reads in later runs and lets a killed run be finished; none for none")
	flags.IntVar(&f.concurrency, "concurrency", 32, "the most files that are read at once; fewer when the storage throttles")
	flags.BoolVar(&f.gcHealthy, "gc-healthy", false, "attest that the janitor ran and its deletions succeeded until the loss (or --gc-healthy-until)")
	flags.StringVar(&f.referenceTime, "gc-healthy-until", "", "`time` (RFC 3339) until which the janitor is known to have been healthy (default the newest file)")
	flags.DurationVar(&f.horizon, "horizon", 26*time.Hour, "age above which a file that was never published has been deleted by a healthy janitor")
	flags.BoolVar(&f.ignoreLastModified, "copied-bucket", false, "the files were copied or restored: their modification times say nothing")
	flags.StringArrayVar(&f.aliases, "alias", nil, "`UID` of an earlier incarnation whose splits belong to the index, may be repeated")
	flags.StringVar(&f.youngL0, "young-l0", "mature", "recent splits that nothing proves: publish them as mature, unchanged, or withhold them")
	flags.StringVar(&f.hiddenLink, "hidden-link", "mature", "splits that may be contained in others: publish them as mature, or withhold them")
	flags.BoolVar(&f.adoptStaged, "adopt-staged", false, "publish rows that others staged and that equal their files; the index must be frozen")
	flags.BoolVar(&f.live, "live", false, "the metastore is intact and the cluster runs: only look for drift")
	flags.BoolVar(&f.liveRecover, "live-recover", false, "with --live, publish what it cannot explain")
	flags.StringVar(&f.maxRead, "max-read", defaultMaxRead, "the most `bytes` of documents that are read in one index to compare files of release 0.9 and older (500MB, 2GB, unlimited, 0 for none)")
	flags.BoolVar(&f.full, "full", false, "compare documents where the checksums of their blocks would prove the same; reads much more")
	flags.StringArrayVar(&f.accept, "accept", nil, "`id` of a decision of the report that a person has taken, may be repeated")
	return cmd
}

func (f *reconcileFlags) options() (reconcile.Options, error) {
	o := reconcile.Options{
		Root: f.bucket, IndexIDs: f.indexes, IndexURIs: map[string]string{}, StorageParameters: f.parameters,
		Journal: f.journal, Concurrency: f.concurrency, Accept: f.accept, Full: f.full,
	}
	limit, err := parseReadLimit(f.maxRead)
	if err != nil {
		return o, err
	}
	o.MaxRead = metastore.Some(limit)
	if f.journal == noJournal {
		o.Journal = ""
	}
	incarnations := map[string]reconcile.IncarnationPolicy{incarnationKeep: reconcile.KeepIncarnation, incarnationNew: reconcile.NewIncarnation}
	var known bool
	if o.Incarnation, known = incarnations[f.incarnation]; !known {
		return o, usagef("--incarnation is %q, must be keep or new", f.incarnation)
	}
	if f.concurrency < 1 || f.concurrency > 4096 {
		return o, usagef("--concurrency is %d, must be from 1 to 4096", f.concurrency)
	}
	for _, pair := range f.indexURIs {
		id, uri, found := strings.Cut(pair, "=")
		if !found || id == "" || uri == "" {
			return o, usagef("--index-uri is %q, must be ID=URL", secrets.MaskURL(pair))
		}
		o.IndexURIs[id] = uri
		if _, err := reconcile.ParseLocation(uri, f.parameters); err != nil {
			return o, usagef("--index-uri of %s: %w", id, err)
		}
	}
	if f.bucket != "" {
		if _, err := reconcile.ParseLocation(f.bucket, f.parameters); err != nil {
			return o, usagef("--bucket: %w", err)
		}
	}
	o.Lineage, err = f.lineageOptions()
	o.CommandFlags, o.ReconcileFlags = f.commandFlags()
	return o, err
}

func (f *reconcileFlags) lineageOptions() (lineage.Options, error) {
	o := lineage.Options{
		GCHealthy: f.gcHealthy, Horizon: f.horizon, IgnoreLastModified: f.ignoreLastModified,
		AdoptStaged: f.adoptStaged, Live: f.live, LiveRecover: f.liveRecover,
	}
	if f.referenceTime != "" {
		at, err := time.Parse(time.RFC3339, f.referenceTime)
		if err != nil {
			return o, usagef("--gc-healthy-until is %q, must be a time such as 2026-01-31T12:00:00Z", f.referenceTime)
		}
		o.GCHealthy, o.ReferenceTime = true, at.Unix()
	}
	if f.horizon <= 0 {
		return o, usagef("--horizon is %s, must be positive", f.horizon)
	}
	if f.liveRecover && !f.live {
		return o, usagef("--live-recover needs --live")
	}
	for _, text := range f.aliases {
		uid, err := metastore.ParseIndexUID(text)
		if err != nil {
			return o, usagef("--alias: %w", err)
		}
		o.Aliases = append(o.Aliases, uid)
	}
	policies := map[string]lineage.FlagPolicy{"mature": lineage.PublishMature, "unchanged": lineage.PublishUnchanged, "withhold": lineage.Withhold}
	var known bool
	if o.YoungL0, known = policies[f.youngL0]; !known {
		return o, usagef("--young-l0 is %q, must be mature, unchanged or withhold", f.youngL0)
	}
	if o.HiddenLink, known = policies[f.hiddenLink]; !known || o.HiddenLink == lineage.PublishUnchanged {
		return o, usagef("--hidden-link is %q, must be mature or withhold", f.hiddenLink)
	}
	return o, nil
}

// commandFlags are the flags that name the server, and those that name the server or store and the
// files, without secrets, and the choice of a new incarnation, for commands that are suggested.
func (f *reconcileFlags) commandFlags() (server, all []string) {
	if f.store != "" {
		all = []string{"--store", secrets.MaskURL(f.store)}
	} else {
		server = []string{"--server", f.server}
		all = server
	}
	if f.bucket != "" {
		all = append(slices.Clip(all), "--bucket", secrets.MaskURL(f.bucket))
	}
	for _, pair := range f.indexURIs {
		id, uri, _ := strings.Cut(pair, "=")
		all = append(all, "--index-uri", id+"="+secrets.MaskURL(uri))
	}
	if f.incarnation == incarnationNew {
		all = append(slices.Clip(all), "--incarnation", incarnationNew)
	}
	return server, all
}

func (c *command) runReconcile(cmd *cobra.Command, f *reconcileFlags, name string, do func(context.Context, reconcile.Options) (*reconcile.Summary, error)) (err error) {
	options, err := f.options()
	if err != nil {
		return err
	}
	for _, path := range f.indexConfigs {
		config, err := c.readIndexConfig(path, ulid.Make)
		if err != nil {
			return err
		}
		options.IndexConfigs = append(options.IndexConfigs, config)
	}
	ctx, cancel := c.interruptible(cmd.Context())
	defer cancel()
	options.Store, err = c.openForReconcile(ctx, f)
	if err != nil {
		return err
	}
	defer func() {
		if closing := options.Store.Close(); err == nil && closing != nil {
			err = fmt.Errorf("close the store: %w", closing)
		}
	}()
	if f.report != "" {
		file, err := os.Create(f.report)
		if err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
		defer file.Close() // what it holds was flushed; a failure to write was returned then
		options.Report = file
	}
	progress := newReconcileProgress(c.system, f.format == output.JSON)
	options.Progress = progress.tell
	options.BeforeReading = func(plan reconcile.ReadPlan) bool { return c.confirmReading(ctx, f, progress, plan) }
	summary, err := do(ctx, options)
	progress.finish()
	if err != nil {
		if context.Cause(ctx) == errInterrupted {
			err = errInterrupted
		}
		if summary != nil && len(summary.Indexes) > 0 && f.format == output.Text {
			// What was done before the failure; what the result says about a person comes second now.
			if printing := c.printReconcile(f, name, summary); printing != nil && !errors.Is(printing, errNeedsPerson) {
				err = errors.Join(err, printing)
			}
		}
		hint := f.goOn(name)
		if errors.Is(err, reconcile.ErrUnknownDecision) {
			hint = "plan again and take the id from its findings; all other decisions were carried out as they are"
		}
		if errors.Is(err, reconcile.ErrJournal) {
			hint = "--journal FILE names another file, --journal none does without; nothing was changed"
		}
		return withHint(fmt.Errorf("reconcile %s: %w", name, err), "%s", hint)
	}
	return c.printReconcile(f, name, summary)
}

// goOn says how to continue after an interruption.
func (f *reconcileFlags) goOn(name string) string {
	text := "repeat the same command to go on"
	if name == "plan" {
		text += "; nothing was changed"
	} else {
		text += "; what was published stays, and nothing is published twice"
	}
	if f.journal != "" && f.journal != noJournal {
		text += fmt.Sprintf("; keep %s, it holds what was read and staged", f.journal)
	}
	return text
}

func (c *command) openForReconcile(ctx context.Context, f *reconcileFlags) (metastore.Store, error) {
	if f.store == "" {
		if f.timeout <= 0 {
			return nil, usagef("--timeout is %s, must be positive", f.timeout)
		}
		config, err := f.tls.config()
		if err != nil {
			return nil, err
		}
		// Package reconcile repeats calls itself: it has to know which answers were lost.
		client, err := rpc.Dial(f.server, rpc.ClientOptions{CallTimeout: f.timeout, RetryAttempts: 1, TLS: config})
		if err != nil {
			return nil, usagef("--server: %w", err)
		}
		return client, nil
	}
	if err := openstore.Validate(f.store); err != nil {
		return nil, usagef("--store: %w", err)
	}
	logger := slog.New(slog.NewTextHandler(secrets.NewWriter(c.stderr, secrets.Find(f.store)), &slog.HandlerOptions{Level: slog.LevelWarn}))
	store, err := openstore.Open(ctx, openstore.Options{URL: f.store, Logger: logger, PreparedStatements: true})
	if err != nil {
		return nil, fmt.Errorf("open the store %s: %w", secrets.MaskURL(f.store), err)
	}
	return store, nil
}
