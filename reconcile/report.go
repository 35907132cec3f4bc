package reconcile

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// Record is one line of the report, of Plan and of Run alike. Type says which of the pointers is set:
//
//	object   ObjectRecord, one line for each split file
//	finding  Finding
//	end      Summary; without this line the report is not complete
//
// The JSON names, and the values of Type, Decision, Reason, Flags and Outcome, are stable.
type Record struct {
	Type     string `json:"type"`
	IndexID  string `json:"index_id,omitempty"`
	IndexUID string `json:"index_uid,omitempty"`
	*ObjectRecord
	Finding *Finding `json:"finding,omitempty"`
	Summary *Summary `json:"summary,omitempty"`
}

// ObjectRecord is what was decided about one split file, and what became of it.
type ObjectRecord struct {
	SplitID  string `json:"split_id"`
	Key      string `json:"key"`      // location of the object
	Size     int64  `json:"size"`     // bytes
	NumDocs  uint64 `json:"num_docs"` // 0 if the file does not tell
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	// Evidence holds the split ids that the decision rests on; which, is said with the reason.
	Evidence []string `json:"evidence,omitempty"`
	// Proof says what proves a decision that rests on the content of files.
	Proof string `json:"proof,omitempty"`
	// DecisionID names the decision that a person may take about the split, by Options.Accept.
	DecisionID string   `json:"decision_id,omitempty"`
	Flags      []string `json:"flags,omitempty"`
	Parents    []string `json:"parents,omitempty"`
	// ReplacedSplitIDs are the rows that the publication marks for deletion.
	ReplacedSplitIDs []string `json:"replaced_split_ids,omitempty"`
	// Mature says that the row is written as mature whatever the file says.
	Mature bool `json:"force_mature,omitempty"`
	// RowBefore and RowAfter are states as the peer spells them, null for no row. In a plan RowAfter is
	// what Run would make of it.
	RowBefore *string `json:"row_before"`
	RowAfter  *string `json:"row_after"`
	Outcome   Outcome `json:"outcome"`
	Detail    string  `json:"detail,omitempty"` // what failed, or why the object is unreadable
}

// Outcome is what became of a decision.
type Outcome string

// The outcomes.
const (
	OutcomeNone      Outcome = "none"        // nothing was to be done
	OutcomePlanned   Outcome = "planned"     // Run would publish it
	OutcomePublished Outcome = "published"   // this run published it
	OutcomeSkipped   Outcome = "skipped"     // another client had written the row meanwhile
	OutcomeFailed    Outcome = "failed"      // see the detail
	OutcomeNotTried  Outcome = "not-reached" // the run ended before
)

type reporter struct{ to *bufio.Writer }

func newReporter(to io.Writer) *reporter { return &reporter{bufio.NewWriterSize(to, 64<<10)} }

func (r *reporter) write(record *Record) error {
	text, err := json.Marshal(record)
	if err == nil {
		_, err = r.to.Write(append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func (r *reporter) end(summary *Summary) error {
	if err := r.write(&Record{Type: "end", Summary: summary}); err != nil {
		return err
	}
	return r.flush()
}

func (r *reporter) flush() error {
	if err := r.to.Flush(); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
