package lineage

import (
	"strings"
	"testing"
)

// The worked cases, in every order of arrival. Nothing attests the janitor unless a case says so.
func TestWorkedCasesDecideTheSameInEveryOrder(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name     string
		objects  string
		attested bool
		want     string
		findings []string // beyond those about age and marks
	}{
		{"1: splits without parents stay", "P1 P2", false,
			"P1 publish unlisted [young-l0] mature\nP2 publish unlisted [young-l0] mature",
			[]string{"young-l0 P1,P2"}},
		{"2: a merge replaces its parents", "P1 P2 C=P1+P2", false,
			"C publish only-child\nP1 superseded replaced-by-accepted <C>\nP2 superseded replaced-by-accepted <C>", nil},
		{"3: a merge without its parents is the normal state", "C=P1+P2", false,
			"C publish only-child", nil},
		{"4: one parent collected already", "P1 C=P1+P2", false,
			"C publish only-child\nP1 superseded replaced-by-accepted <C>", nil},
		{"5: a chain ends in its last link", "P1 P2 C=P1+P2 P3 D=C+P3", false,
			"C superseded replaced-by-accepted <D>\nD publish only-child\nP1 superseded replaced <C>\n" +
				"P2 superseded replaced <C>\nP3 superseded replaced-by-accepted <D>", nil},
		{"6: a missing link may hide that one contains the other", "P1 -C=P1+P2 D=C+P3", false,
			"D publish only-child\nP1 publish unlisted [young-l0,hidden-link] mature <D>",
			[]string{"hidden-link P1", "young-l0 P1"}},
		{"7: of two overlapping merges one is taken, and the other's own parent", "P1 P2 P3 C1=P1+P2 C2=P2+P3", false,
			"C1 publish chosen <C2>\nC2 orphan sibling-chosen <C1>\nP1 superseded replaced-by-accepted <C1>\n" +
				"P2 superseded replaced-by-accepted <C1>\nP3 publish proven-by-list", nil},
		{"8: the same without the shared parent", "P1 P3 C1=P1+P2 C2=P2+P3", false,
			"C1 publish chosen <C2>\nC2 orphan sibling-chosen <C1>\n" +
				"P1 superseded replaced-by-accepted <C1>\nP3 publish proven-by-list [hidden-link] mature <C1>",
			[]string{"hidden-link P3"}},
		{"9: a grandchild proves which sibling was published", "C1=P1+P2 C2=P2+P3 D=C2+P4", false,
			"C1 orphan sibling-published [possible-loss] <C2>\nC2 superseded replaced-by-accepted <D>\nD publish only-child",
			[]string{"possible-loss C1,P1"}},
		{"10: a duplicate of a compactor is taken once", "C1=P1+P2 C2=P1+P2", false,
			"C1 publish chosen <C2>\nC2 orphan sibling-chosen <C1>", nil},
		{"11: a delete rewrite replaces its parent", "P R=P", false,
			"P superseded replaced-by-accepted <R>\nR publish only-child", nil},
		{"12: a delete rewrite is preferred to a merge", "P Q R=P M=P+Q", false,
			"M orphan sibling-chosen <R>\nP superseded replaced-by-accepted <R>\nQ publish proven-by-list\nR publish chosen <M>", nil},
		{"13: a split whose documents were all deleted cannot be told", "P", false,
			"P publish unlisted [young-l0] mature", []string{"young-l0 P"}},
		{"14: documents read again after a failed publication cannot be told", "La Lb", false,
			"La publish unlisted [young-l0] mature\nLb publish unlisted [young-l0] mature", []string{"young-l0 La,Lb"}},
		{"15: two published children of one parent contradict each other", "C1@40=P1+P2 C2@40=P2+P3", true,
			"C1 inconsistent two-published-children <P2,C2>\nC2 inconsistent two-published-children <P2,C1>",
			[]string{"inconsistent P2,C1,C2"}},
		{"16: a list replaces a legacy split as well", "P? C=P+P2", false,
			"C publish only-child\nP superseded replaced-by-accepted <C>", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			options := testOptions()
			options.GCHealthy = c.attested
			eachOrder(drawn(t, c.objects), nil, func(objects []Object, rows []Row) {
				plan := mustDecide(t, objects, rows, options)
				if got := decisionsText(plan); got != c.want {
					t.Fatalf("objects %s\ngot\n%s\nwant\n%s", c.objects, got, c.want)
				}
				var findings []string
				for _, text := range findingsText(plan) {
					if text != string(FindingAgeRuleOff) && text != string(FindingRecentMarkRisk) {
						findings = append(findings, text)
					}
				}
				if got, want := strings.Join(findings, "; "), strings.Join(c.findings, "; "); got != want {
					t.Fatalf("objects %s\ngot findings  %s\nwant findings %s", c.objects, got, want)
				}
			})
		})
	}
}
