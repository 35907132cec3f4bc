package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/cmd/metastore/internal/staging"
	"holdfast/metastore"
)

// stageOutput writes what was staged and skipped, batch by batch.
type stageOutput struct {
	*command
	*stageFlags
	uid     metastore.IndexUID
	table   *output.Table // text with --create-only
	json    *bufio.Writer // JSON
	begun   bool
	batches int
	staged  int
	// replayed are the batches that an earlier attempt had staged.
	replayed int
	skipped  map[metastore.SplitState]int
	// jsonSkipped is kept until all that was staged is written.
	jsonSkipped []skippedSplit
}

// skippedSplit is a skipped split as JSON.
type skippedSplit struct {
	SplitID    string `json:"split_id"`
	SplitState string `json:"split_state"`
}

func newStageOutput(c *command, s *stageFlags, uid metastore.IndexUID) *stageOutput {
	o := &stageOutput{command: c, stageFlags: s, uid: uid, skipped: make(map[metastore.SplitState]int)}
	switch {
	case s.format == output.JSON:
		o.json = bufio.NewWriter(c.stdout)
	case s.createOnly:
		o.table = output.NewTable(c.stdout, "SPLIT", "RESULT", "STATE")
	}
	return o
}

// batch adds what one call did.
func (o *stageOutput) batch(result metastore.StageSplitsResult) error {
	o.batches++
	for _, id := range result.Staged {
		o.staged++
		if err := o.writeStaged(id); err != nil {
			return err
		}
	}
	for _, skipped := range result.Skipped {
		o.skipped[skipped.State]++
		if err := o.writeSkipped(skipped); err != nil {
			return err
		}
	}
	if o.progress && o.table == nil {
		_, err := fmt.Fprintf(o.stderr, "\r%s staged, %s skipped\033[K", output.Plural(o.staged, "split"), output.Count(o.numSkipped()))
		return err
	}
	return nil
}

func (o *stageOutput) writeStaged(id string) error {
	switch {
	case o.table != nil:
		return o.table.Row(id, "staged", metastore.Staged.String())
	case o.json != nil:
		separator := ","
		if !o.begun {
			separator = o.jsonHead()
		}
		quoted, err := json.Marshal(id)
		if err != nil {
			return err
		}
		_, err = o.json.WriteString(separator + string(quoted))
		return err
	}
	return nil
}

func (o *stageOutput) writeSkipped(skipped metastore.SkippedSplit) error {
	switch {
	case o.table != nil:
		return o.table.Row(skipped.SplitID, "skipped", skipped.State.String())
	case o.json != nil:
		o.jsonSkipped = append(o.jsonSkipped, skippedSplit{skipped.SplitID, skipped.State.String()})
	}
	return nil
}

func (o *stageOutput) jsonHead() string {
	o.begun = true
	return fmt.Sprintf(`{"index_uid":"%s","create_only":%t,"staged":[`, o.uid, o.createOnly)
}

// failed ends the output with what was done before the failure of a batch, and returns the failure
// with how far it got. If nothing was done the output stays empty.
func (o *stageOutput) failed(cause error, batch staging.Batch) error {
	if o.batches == 0 {
		return cause
	}
	if err := o.finish(); err != nil {
		return err
	}
	if batch.First == 0 { // the input is at fault, no batch was sent
		return withHint(cause, "the %s before it are done, all other splits were not sent", output.Plural(o.batches, "batch"))
	}
	return fmt.Errorf("splits %d to %d of the input: %w", batch.First, batch.Last, cause)
}

// finish ends the output.
func (o *stageOutput) finish() error {
	if o.progress && o.table == nil {
		if _, err := fmt.Fprint(o.stderr, "\r\033[K"); err != nil {
			return err
		}
	}
	if o.json != nil {
		return o.finishJSON()
	}
	if o.table != nil {
		if err := o.table.Close(); err != nil {
			return err
		}
	}
	return o.print("%s", o.summary())
}

func (o *stageOutput) finishJSON() error {
	head := ""
	if !o.begun {
		head = o.jsonHead()
	}
	if o.jsonSkipped == nil {
		o.jsonSkipped = []skippedSplit{}
	}
	skipped, err := json.Marshal(o.jsonSkipped)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(o.json, "%s],\"skipped\":%s}\n", head, skipped); err != nil {
		return err
	}
	return o.json.Flush()
}

func (o *stageOutput) numSkipped() int {
	total := 0
	for _, n := range o.skipped {
		total += n
	}
	return total
}

// summary is one line: "index web-access: 18 splits staged, 2 skipped (1 Staged, 1 Published)".
func (o *stageOutput) summary() string {
	text := fmt.Sprintf("index %s: %s staged", o.uid.IndexID, output.Plural(o.staged, "split"))
	if o.createOnly {
		text += fmt.Sprintf(", %s skipped", output.Count(o.numSkipped()))
		var states []string
		for _, state := range []metastore.SplitState{metastore.Staged, metastore.Published, metastore.MarkedForDeletion} {
			if n := o.skipped[state]; n > 0 {
				states = append(states, fmt.Sprintf("%s %s", output.Count(n), state))
			}
		}
		if len(states) > 0 {
			text += " (" + strings.Join(states, ", ") + ")"
		}
	}
	if o.batches > 1 {
		text += fmt.Sprintf(", in %s, each all or nothing", output.Plural(o.batches, "batch"))
	}
	switch {
	case o.replayed > 0 && o.replayed == o.batches:
		text += " (executed by an earlier attempt)"
	case o.replayed > 0:
		text += fmt.Sprintf(" (%s executed by an earlier attempt)", output.Plural(o.replayed, "batch"))
	}
	return text
}
