package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/bench"
	"holdfast/cmd/metastore/internal/output"
)

const benchHelp = `Measure one or several running servers of the metastore service, Quickwit's too. Several
targets are driven in one run, in short turns (--slice), so that noise of the machine hits
all of them alike.

  stage        stage new splits
  stage-again  stage splits that are staged already: every row is written again
  create-only  stage splits that are there in create-only mode: nothing is written
               (needs a Holdfast server)
  publish      publish splits that were staged before the clock started; ends when there
               are no more
  list         list all splits of the index
  mixed        stage, publish, list a page, mark and delete, batch after batch

Each run makes an index of its own in each target, stages --splits splits in it before the
clock starts, and deletes it at the end, also when it is interrupted. A target's turns end
after --duration, or after --calls if that comes first.`

func (c *command) bench() *cobra.Command {
	options := bench.Options{}
	scenario := ""
	format := output.Text
	cmd := &cobra.Command{
		Use:   "bench --target HOST:PORT [--target HOST:PORT]... --scenario NAME",
		Short: "Measure running servers",
		Long:  benchHelp,
		Example: `  metastore bench --target 127.0.0.1:7281 --scenario stage --clients 16 --batch 100
  metastore bench --target holdfast:7281 --target quickwit:7281 --scenario publish --batch 1 --splits 20000`,
		Args: cobra.NoArgs,
		RunE: c.work(func(cmd *cobra.Command, _ []string) error {
			options.Scenario = bench.Scenario(scenario)
			if err := options.Validate(); err != nil {
				return usagef("bench: %w", err)
			}
			options.Progress = c.benchProgress()
			ctx, cancel := c.interruptible(cmd.Context())
			defer cancel()
			report, err := bench.Run(ctx, options)
			if report != nil {
				err = errors.Join(c.printMeasurements(report, format), err)
			}
			return err
		}),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&options.Targets, "target", []string{defaultServer}, "a server, HOST:PORT; may be given several times")
	flags.StringVar(&scenario, "scenario", string(bench.Stage), "what the clients do: stage, stage-again, create-only, publish, list or mixed")
	flags.IntVar(&options.Clients, "clients", 16, "connections to each target, each with one call at a time")
	flags.IntVar(&options.Batch, "batch", 100, "splits in one call")
	flags.IntVar(&options.Splits, "splits", 10_000, "splits that each target has when the clock starts")
	flags.DurationVar(&options.Duration, "duration", 10*time.Second, "measured time of each target")
	flags.IntVar(&options.Calls, "calls", 0, "the most measured calls of each target; 0: no bound")
	flags.DurationVar(&options.Slice, "slice", 500*time.Millisecond, "length of a target's turn")
	flags.StringVar(&options.IndexPrefix, "index-prefix", "bench-", "beginning of the id of the index of the run")
	flags.DurationVar(&options.CallTimeout, "timeout", defaultTimeout, "how long one call may take")
	flags.Var(&format, "format", "how to write the result: text, or json for machines")
	return cmd
}

// benchProgress keeps one line on the terminal up to date.
func (c *command) benchProgress() func(string) {
	if !c.progress {
		return nil
	}
	// Progress that cannot be shown is no reason to end a measurement.
	return func(text string) { _, _ = fmt.Fprintf(c.stderr, "\r%s\033[K", text) }
}

func (c *command) printMeasurements(report *bench.Report, format output.Format) error {
	if c.progress {
		if _, err := fmt.Fprint(c.stderr, "\r\033[K"); err != nil {
			return err
		}
	}
	if format == output.JSON {
		encoder := json.NewEncoder(c.stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	}
	if err := c.print("scenario %s: %s, %s a call, %s at the start", report.Scenario,
		output.Plural(report.Clients, "client"), output.Plural(report.Batch, "split"), output.Plural(report.Splits, "split")); err != nil {
		return err
	}
	table := output.NewTable(c.stdout, "TARGET", "CALL", ">SECONDS", ">CALLS", ">CALLS/S", ">ROWS/S", ">P50 MS", ">P99 MS", ">MAX MS", ">ERRORS")
	for _, r := range report.Results {
		if err := table.Row(r.Target, r.Operation, decimal(r.Seconds, 1), output.Count(r.Calls),
			output.Count(int64(r.CallsPerSecond+0.5)), output.Count(int64(r.RowsPerSecond+0.5)),
			decimal(r.P50Millis, 2), decimal(r.P99Millis, 2), decimal(r.MaxMillis, 2), output.Count(r.Errors)); err != nil {
			return err
		}
	}
	if err := table.Close(); err != nil {
		return err
	}
	for _, r := range report.Results {
		for _, code := range slices.Sorted(maps.Keys(r.ErrorSamples)) {
			if err := c.print("error of %s, %s: %s: %.300s", r.Target, r.Operation, code, r.ErrorSamples[code]); err != nil {
				return err
			}
		}
	}
	return nil
}

func decimal(value float64, digits int) string { return strconv.FormatFloat(value, 'f', digits, 64) }
