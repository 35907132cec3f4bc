package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/reconcile"
)

// printReconcile writes the result and returns what the exit status says.
func (c *command) printReconcile(f *reconcileFlags, name string, summary *reconcile.Summary) error {
	if f.format == output.JSON {
		text, err := json.Marshal(summary)
		if err != nil {
			return err
		}
		if err := c.print("%s", text); err != nil {
			return err
		}
	} else {
		for i := range summary.Indexes {
			if err := c.printIndexSummary(name, &summary.Indexes[i]); err != nil {
				return err
			}
		}
		if f.report != "" {
			if err := c.print("The report for each object is in %s.", f.report); err != nil {
				return err
			}
		}
	}
	if summary.NeedsPerson() || summary.Failed() {
		return errNeedsPerson
	}
	return nil
}

func (c *command) printIndexSummary(name string, s *reconcile.IndexSummary) error {
	uid := s.IndexUID
	switch {
	case s.Missing && uid == "":
		uid = "not in the metastore"
	case s.Missing:
		uid += ", not in the metastore"
	case s.KeptIncarnation:
		uid += ", created with its incarnation"
	case s.Created:
		uid += ", created"
	}
	if err := c.print("index %s (%s)\nfiles in %s", visible(s.IndexID), uid, visible(s.Location)); err != nil {
		return err
	}
	table := output.NewTable(c.stdout, "DECISION", ">OBJECTS", ">DOCUMENTS", ">SIZE")
	var documents, bytes uint64
	for _, decision := range slices.Sorted(maps.Keys(s.Decisions)) {
		documents += s.Documents[decision]
		bytes += s.Bytes[decision]
		err := table.Row(decision, output.Count(s.Decisions[decision]), output.Count(s.Documents[decision]), output.Bytes(s.Bytes[decision]))
		if err != nil {
			return err
		}
	}
	if err := table.Row("total", output.Count(s.Objects), output.Count(documents), output.Bytes(bytes)); err != nil {
		return err
	}
	if err := table.Close(); err != nil {
		return err
	}
	if err := c.print("%s%s%s", comparison(&s.Contents), sentence(name, s), opstamps(name, s.DeleteOpstamps)); err != nil {
		return err
	}
	return c.printFindings(s)
}

// comparison is a line about the documents that were compared, empty if none were.
func comparison(s *reconcile.ContentStats) string {
	if s.Compared == 0 {
		return ""
	}
	text := fmt.Sprintf("compared the contents of %s: read %s of documents", output.Plural(s.Compared, "file"), output.Bytes(uint64(s.Bytes)))
	if s.RefusedBytes > 0 {
		text += fmt.Sprintf(", left %s of %s unread", output.Bytes(uint64(s.RefusedBytes)), output.Plural(s.RefusedFiles, "file"))
	}
	return text + "\n"
}

func sentence(name string, s *reconcile.IndexSummary) string {
	skipped := ""
	if s.Skipped > 0 {
		skipped = fmt.Sprintf(", %s left alone because they have a row", output.Count(s.Skipped))
	}
	switch {
	case name == "plan" && s.ToPublish == 0:
		return "nothing to publish" + skipped
	case name == "plan":
		return fmt.Sprintf("run would publish %s%s", output.Plural(s.ToPublish, "split"), skipped)
	case s.Staged == 0 && s.Published == 0 && s.Failed == 0 && !s.Created && (s.DeleteOpstamps == nil || !s.DeleteOpstamps.Done):
		return "nothing was changed" + skipped
	}
	text := fmt.Sprintf("staged %s, published %s", output.Count(s.Staged), output.Count(s.Published))
	if s.Failed > 0 {
		text += fmt.Sprintf(", failed %s", output.Count(s.Failed))
	}
	return text + skipped
}

// opstamps is a line about the counter of delete opstamps, empty if it is high enough.
func opstamps(name string, raise *reconcile.OpstampRaise) string {
	switch {
	case raise == nil:
		return ""
	case raise.Done:
		return fmt.Sprintf("\nraised the counter of delete opstamps from %d to %d", raise.From, raise.To)
	case name == "plan":
		return fmt.Sprintf("\nrun will raise the counter of delete opstamps from %d to %d", raise.From, raise.To)
	default:
		return fmt.Sprintf("\nthe counter of delete opstamps was not raised from %d to %d", raise.From, raise.To)
	}
}

func (c *command) printFindings(s *reconcile.IndexSummary) error {
	for _, needsPerson := range []bool{false, true} {
		for i := range s.Findings {
			f := &s.Findings[i]
			if f.NeedsPerson != needsPerson {
				continue
			}
			label := "note"
			if needsPerson {
				label = "needs a person"
			}
			if err := c.print("\n%s: %s%s\n  %s", label, f.Code, visible(someIDs(f)), visible(f.Message)); err != nil {
				return err
			}
			if f.Next != "" {
				if err := c.print("  next: %s", f.Next); err != nil {
					return err
				}
			}
		}
	}
	if s.FindingsLeftOut > 0 {
		if err := c.print("\nand %s more findings, which --report FILE holds", output.Count(s.FindingsLeftOut)); err != nil {
			return err
		}
	}
	return c.printSkeleton(s)
}

// printSkeleton shows what the files tell of the configuration of a missing index.
func (c *command) printSkeleton(s *reconcile.IndexSummary) error {
	if s.Skeleton == nil {
		return c.print("")
	}
	var document bytes.Buffer
	if err := json.Indent(&document, s.Skeleton.Config, "", "  "); err != nil {
		return err
	}
	return c.print("\nThe files tell this much of the configuration:\n\n%s\n\nWhat no file tells:\n  - %s\n",
		&document, strings.Join(s.Skeleton.Unknown, "\n  - "))
}

// someIDs names the first ids and how many there are.
func someIDs(f *reconcile.Finding) string {
	const most = 3
	switch {
	case f.Count == 0:
		return ""
	case f.Count <= most:
		return ": " + strings.Join(f.IDs, " ")
	default:
		return fmt.Sprintf(": %s and %s more", strings.Join(f.IDs[:most], " "), output.Count(f.Count-most))
	}
}

// visible replaces what a terminal would not show: names come from objects that anybody may have
// written.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
