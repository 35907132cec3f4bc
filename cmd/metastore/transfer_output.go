package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore/file"
	"holdfast/metastore/interop"
)

// printTransfer writes the result and returns what the exit status says.
func (c *command) printTransfer(f *transferFlags, name string, summary *interop.Summary) error {
	print := c.printTransferText
	if f.format == output.JSON {
		print = c.printTransferJSON
	}
	if err := print(name, summary); err != nil {
		return err
	}
	if summary.NeedsPerson() {
		return errNeedsPerson
	}
	return nil
}

func (c *command) printTransferJSON(_ string, summary *interop.Summary) error {
	text, err := json.Marshal(summary)
	if err != nil {
		return err
	}
	return c.print("%s", text)
}

func (c *command) printTransferText(name string, summary *interop.Summary) error {
	if err := c.printTransferIndexes(summary); err != nil {
		return err
	}
	for _, template := range summary.Templates {
		if template.Result.NeedsPerson() {
			if err := c.print("index template %s: the target has another one of this id, which stays", visible(template.TemplateID)); err != nil {
				return err
			}
		}
	}
	for _, line := range droppedLines(summary.Dropped) {
		if err := c.print("note: manifest: %s", line); err != nil {
			return err
		}
	}
	for _, note := range summary.Notes {
		if err := c.print("note: %s", visible(note)); err != nil {
			return err
		}
	}
	return c.print("%s", transferSentence(name, summary))
}

func (c *command) printTransferIndexes(summary *interop.Summary) error {
	if len(summary.Indexes) > 0 {
		if err := c.printTransferTable(summary); err != nil {
			return err
		}
	}
	for _, index := range summary.Indexes {
		for _, line := range remarks(&index) {
			if err := c.print("%s: %s", visible(index.IndexID), line); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *command) printTransferTable(summary *interop.Summary) error {
	table := output.NewTable(c.stdout, "INDEX", "RESULT", ">STAGED", ">PUBLISHED", ">MARKED", ">SOURCES", ">SHARDS", ">DELETE TASKS", ">METRICS", ">SKETCHES")
	for _, i := range summary.Indexes {
		cells := []string{visible(i.IndexID), strings.ReplaceAll(string(i.Result), "_", " ")}
		if i.IndexUID == "" {
			cells = append(cells, slices.Repeat([]string{"-"}, 8)...)
		} else {
			for _, n := range []uint64{i.Staged, i.Published, i.Marked} {
				cells = append(cells, output.Count(n))
			}
			for _, n := range []int{i.Sources, i.Shards, i.DeleteTasks, i.MetricsSplits, i.SketchSplits} {
				cells = append(cells, output.Count(n))
			}
		}
		if err := table.Row(cells...); err != nil {
			return err
		}
	}
	return table.Close()
}

// remarks are what there is to say about an index besides its numbers.
func remarks(index *interop.Index) (lines []string) {
	if index.Detail != "" {
		lines = append(lines, visible(index.Detail))
	}
	return append(lines, droppedLines(index.Dropped)...)
}

// droppedLines say what was not carried, a line for each kind of place.
func droppedLines(dropped []file.Loss) (lines []string) {
	for _, loss := range dropped {
		what := "not carried"
		switch loss.Reason {
		case file.Repeated:
			what = "given more than once, and the last one counts"
		case file.Changed:
			what = "carried with another value"
		}
		line := what + ": " + visible(loss.First)
		if loss.Count > 1 {
			line = fmt.Sprintf("%s: %s, %s times, first %s", what, visible(loss.Path), output.Count(loss.Count), visible(loss.First))
		}
		lines = append(lines, line)
	}
	return lines
}

func transferSentence(name string, summary *interop.Summary) string {
	count := func(results ...interop.Result) (indexes, templates int) {
		for _, index := range summary.Indexes {
			if slices.Contains(results, index.Result) {
				indexes++
			}
		}
		for _, template := range summary.Templates {
			if slices.Contains(results, template.Result) {
				templates++
			}
		}
		return indexes, templates
	}
	if summary.To == "" {
		indexes, templates := count(interop.Planned)
		return fmt.Sprintf("%s would copy %s and %s from %s; nothing was written", name, output.Plural(indexes, "index"), output.Plural(templates, "index template"), visible(summary.From))
	}
	indexes, templates := count(interop.Copied)
	text := fmt.Sprintf("copied %s and %s from %s to %s, read back and compared", output.Plural(indexes, "index"), output.Plural(templates, "index template"), visible(summary.From), visible(summary.To))
	if indexes, templates := count(interop.Present); indexes+templates > 0 {
		text += fmt.Sprintf("; %s and %s were there already, and equal", output.Plural(indexes, "index"), output.Plural(templates, "index template"))
	}
	return text
}
