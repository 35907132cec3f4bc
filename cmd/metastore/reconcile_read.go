package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/reconcile"
)

// defaultMaxRead is the most that is read of the documents in an index's files without asking.
const defaultMaxRead = "1GB"

// parseReadLimit reads a number of bytes: with a unit, or "unlimited".
func parseReadLimit(text string) (int64, error) {
	wrong := usagef("--max-read is %q, must be a number of bytes such as 500MB, 2GB or 0, or unlimited", text)
	if text == "unlimited" {
		return math.MaxInt64, nil
	}
	digits := strings.TrimRight(text, "kMGTBib ")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 {
		return 0, wrong
	}
	factor, known := map[string]int64{
		"": 1, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 1 << 10, "kiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	}[strings.TrimSpace(text[len(digits):])]
	if !known || n > math.MaxInt64/factor {
		return 0, wrong
	}
	return n * factor, nil
}

// confirmReading says what is going to be read of the documents, and asks a person if it is more than the
// limit.
func (c *command) confirmReading(ctx context.Context, f *reconcileFlags, progress *reconcileProgress, plan reconcile.ReadPlan) bool {
	progress.finish()
	text := fmt.Sprintf("%s: comparing documents: %s of %s to read", visible(plan.IndexID), output.Bytes(uint64(plan.Bytes)), output.Plural(int64(plan.Files), "file"))
	if plan.Before > 0 {
		text += fmt.Sprintf(", after %s", output.Bytes(uint64(plan.Before)))
	}
	if !plan.Exceeds() {
		if f.format != output.JSON {
			_, _ = fmt.Fprintln(c.stderr, text) // if stderr is gone there is nobody to tell
		}
		return false
	}
	text += fmt.Sprintf(", more than --max-read %s", f.maxRead)
	if !c.stdinTerminal || f.format == output.JSON {
		_, _ = fmt.Fprintf(c.stderr, "%s; the rest is not read\n", text)
		return false
	}
	if _, err := fmt.Fprintf(c.stderr, "%s. Read all the same? [y/N] ", text); err != nil {
		return false
	}
	answer := make(chan string, 1)
	go func() {
		// What cannot be read is no consent.
		line, _ := bufio.NewReader(io.LimitReader(c.stdin, 4096)).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case line := <-answer:
		return line == "y" || line == "yes"
	case <-ctx.Done():
		return false
	}
}
