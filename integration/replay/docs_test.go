package replay

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/deviations.md")

const docs = "../../docs/deviations.md"

// The table stands between these lines.
const (
	tableBegin = "<!-- begin: written by go test ./integration/replay -run Docs -update -->\n"
	tableEnd   = "<!-- end -->\n"
)

func TestDocsListEveryDeviation(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), tableBegin)
	table, after, ended := strings.Cut(rest, tableEnd)
	if !found || !ended {
		t.Fatalf("%s lacks the lines between which the table stands", docs)
	}
	want := deviationsTable()
	if *update {
		if err := os.WriteFile(docs, []byte(before+tableBegin+want+tableEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if table != want {
		t.Errorf("the table of %s is not that of deviations.go; run this test with -update. It should be\n%s", docs, want)
	}
}

func TestEveryDeviationFollowsARule(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, r := range rules() {
		if known[r.id] {
			t.Errorf("rule %s is in the table twice", r.id)
		}
		known[r.id] = true
	}
	for _, d := range deviations() {
		if !known[d.rule] {
			t.Errorf("deviation of %s at %v follows the rule %q, which is not in the table", d.scenario, d.steps, d.rule)
		}
	}
}

// deviationsTable renders the rules with the recorded steps that show them.
func deviationsTable() string {
	var table strings.Builder
	table.WriteString("| Rule | The peer | Holdfast | Recorded steps (store, where only one) |\n|---|---|---|---|\n")
	for _, r := range rules() {
		var shown []string
		for _, d := range deviations() {
			if d.rule != r.id {
				continue
			}
			steps := strings.Trim(strings.ReplaceAll(fmt.Sprint(d.steps), " ", ", "), "[]")
			place := d.scenario + " " + steps
			if d.backend != "" {
				place += " (" + string(d.backend) + ")"
			}
			shown = append(shown, place)
		}
		slices.Sort(shown)
		fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", r.id, r.peer, r.ours, strings.Join(shown, "; "))
	}
	return table.String()
}
