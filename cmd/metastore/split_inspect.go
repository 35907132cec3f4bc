package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/reconcile"
	"holdfast/reconcile/splitfile"
)

func (c *command) splitInspect(f *splitFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inspect FILE|URL",
		Short: "Show what a split file says about itself",
		Long: `Show the layout of a split file, the files bundled in it, and the row and the parents that its
recovery entry holds. No server is asked. Only the end of the file is read, and never a large
hotcache. The file has to have the name it has in its index, SPLIT-ID.split.

The file is a path, a file:// URL, or an object: s3://bucket/key, gs://, azblob:// or azure://,
with the parameters of gocloud.dev/blob behind a question mark, such as ?endpoint=...

With --format json: {"split_id", "size", "layout", "files", "legacy", "metadata": the split
document without state, "parent_split_ids", ...}. For a legacy file, which has no recovery entry,
"metadata" and "parent_split_ids" are null.

Exits with 1 if the file is malformed; what can be read of it is shown.`,
		Example: `  metastore split inspect 01M8P1J7E98JP8BEK9KRMR6X7Q.split
  metastore split inspect "s3://bucket/logs/01M8P1J7E98JP8BEK9KRMR6X7Q.split?region=eu-west-1" --format json`,
		Args: oneArgument("FILE|URL", "which split file?"),
		RunE: c.work(func(cmd *cobra.Command, args []string) error {
			ctx, cancel := c.interruptible(cmd.Context())
			defer cancel()
			report, err := inspectSplit(ctx, args[0])
			if err != nil {
				if context.Cause(ctx) == errInterrupted {
					return errInterrupted
				}
				return err
			}
			if err := c.printSplitReport(f.format, &report); err != nil {
				return err
			}
			if report.Problem != "" {
				return withHint(errors.New(report.Problem), "no row can be recovered from this file; reconcile reports it and leaves it alone")
			}
			return nil
		}),
	}
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		for _, ofServers := range []string{"server", "timeout", "index"} {
			cmd.InheritedFlags().Lookup(ofServers).Hidden = true
		}
		cmd.Parent().HelpFunc()(cmd, args)
	})
	return cmd
}

// inspectSplit opens the file that a path or URL names.
func inspectSplit(ctx context.Context, target string) (report splitfile.Report, err error) {
	path, parameters := target, ""
	if strings.Contains(target, "://") {
		path, parameters, _ = strings.Cut(target, "?")
	}
	slash := strings.LastIndexByte(path, '/')
	directory, name := path[:slash+1], path[slash+1:]
	if slash < 0 {
		directory = "."
	}
	id, _ := strings.CutSuffix(name, ".split")
	if id == "" || strings.HasSuffix(directory, "://") {
		return report, usagef("%q names no split file", path)
	}
	location, err := reconcile.ParseLocation(directory, parameters)
	if err != nil {
		return report, usagef("%w", err)
	}
	failed := func(err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return withHint(fmt.Errorf("%s is not there", path), "a split file is named SPLIT-ID.split and lies directly in the directory of its index")
		}
		return fmt.Errorf("inspect %s: %w", path, err)
	}
	bucket, err := location.Open(ctx)
	if err != nil {
		return report, failed(err)
	}
	defer func() { err = errors.Join(err, bucket.Close()) }()
	reader, done, err := bucket.Open(ctx, name)
	if err != nil {
		return report, failed(err)
	}
	defer func() { err = errors.Join(err, done()) }()
	file, err := splitfile.Open(ctx, reader, splitfile.Options{SplitID: id})
	if err != nil {
		return report, failed(err)
	}
	return file.Inspect(), nil
}

func (c *command) printSplitReport(format output.Format, report *splitfile.Report) error {
	if format == output.JSON {
		return json.NewEncoder(c.stdout).Encode(report)
	}
	files := output.NewTable(c.stdout, "FILE", ">START", ">END", ">SIZE")
	row := func(name string, r splitfile.ReportRange) error {
		return files.Row(name, strconv.FormatInt(r.Start, 10), strconv.FormatInt(r.End, 10), output.Bytes(uint64(r.Size)))
	}
	for _, file := range report.Files {
		if err := row(file.Name, file.ReportRange); err != nil {
			return err
		}
	}
	layout := &report.Layout
	for _, part := range []struct {
		name string
		splitfile.ReportRange
	}{{"(bundle metadata)", layout.BundleMetadata}, {"(hotcache)", layout.Hotcache}, {"(footer)", layout.Footer}} {
		if err := row(part.name, part.ReportRange); err != nil {
			return err
		}
	}
	if err := errors.Join(files.Close(), c.print("")); err != nil {
		return err
	}
	fields := output.NewTable(c.stdout, "FIELD", "VALUE")
	for _, field := range splitReportFields(report) {
		if err := fields.Row(field[0], field[1]); err != nil {
			return err
		}
	}
	return fields.Close()
}

func splitReportFields(report *splitfile.Report) [][2]string {
	trailer := "no"
	if report.Layout.Trailer {
		trailer = "yes"
	}
	fields := [][2]string{
		{"split", report.SplitID},
		{"size", output.Bytes(uint64(report.Size))},
		{"trailer", trailer},
	}
	if m := report.Metadata; m != nil {
		timeRange := ""
		if m.TimeRange.Set {
			timeRange = output.Seconds(m.TimeRange.Value.Start) + " .. " + output.Seconds(m.TimeRange.Value.End) + " UTC"
		}
		maturity := "mature"
		if m.Maturity.Immature {
			maturity = fmt.Sprintf("immature for %s", period(m.Maturity.PeriodMillis))
		}
		parents := strings.Join(report.ParentSplitIDs, " ")
		if len(report.ParentSplitIDs) == 0 {
			parents = "none"
		}
		fields = append(fields, [][2]string{
			{"index", m.IndexUID.String()},
			{"source", m.SourceID},
			{"node", m.NodeID},
			{"partition", strconv.FormatUint(m.PartitionID, 10)},
			{"documents", output.Count(m.NumDocs)},
			{"documents size", output.Bytes(m.UncompressedDocsSize)},
			{"time range", timeRange},
			{"created", output.Seconds(m.CreateTimestamp) + " UTC"},
			{"maturity", maturity},
			{"tags", strings.Join(m.Tags, " ")},
			{"delete opstamp", strconv.FormatUint(m.DeleteOpstamp, 10)},
			{"merges", strconv.FormatUint(m.NumMergeOps, 10)},
			{"doc mapping", m.DocMappingUID.String()},
			{"parents", parents},
		}...)
	}
	if report.Legacy {
		fields = append(fields, [2]string{"legacy", "yes: there is no recovery entry, so the row and the parents are not known"})
	}
	for _, warning := range report.Warnings {
		fields = append(fields, [2]string{"warning", warning})
	}
	return fields
}

// period writes a number of milliseconds; one that no duration holds stays a number.
func period(millis uint64) string {
	const most = uint64(1<<63-1) / uint64(time.Millisecond)
	if millis > most {
		return fmt.Sprintf("%d ms", millis)
	}
	return (time.Duration(millis) * time.Millisecond).String()
}
