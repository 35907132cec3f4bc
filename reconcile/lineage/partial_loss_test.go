package lineage

import "testing"

func complete(o *Options) { o.RowsComplete = true }

func TestRowsOfAnOldBackupAreReplacedNotDoubled(t *testing.T) {
	runRules(t, []ruleCase{
		{name: "parents still Published", objects: "P Q C=P+Q", rows: "P=published Q=published",
			want:    "C publish only-child replaces P,Q\nP superseded replaced-by-accepted <C>\nQ superseded replaced-by-accepted <C>",
			rowsOut: "P replaced C; Q replaced C"},
		{name: "grandparents, through known objects", objects: "C=P+Q D=C+S", rows: "P=published Q=published S=published",
			want:    "C superseded replaced-by-accepted <D>\nD publish only-child replaces P,Q,S",
			rowsOut: "P replaced D; Q replaced D; S replaced D"},
		{name: "a Published row without a file that nobody lists", objects: "C=P+Q", rows: "X=published",
			want: "C publish only-child", rowsOut: "X published-without-object", find: []string{"published-without-object X"}},
		{name: "one that only an orphan lists", objects: "C1=P+Q C2=P+X", rows: "C1=published X=published",
			want:    "C1 already-published row\nC2 orphan sibling-published [possible-loss] <C1>",
			rowsOut: "X published-without-object"},
		{name: "a Published row under an already published descendant is left to a person", objects: "P C=P+Q", rows: "C=published P=published",
			want:    "C already-published row\nP superseded replaced <C>",
			rowsOut: "P stale-published C", find: []string{"stale-published P,C"}},
		{name: "a legacy parent with a Published row", objects: "P? C=P+Q", rows: "P=published",
			want: "C publish only-child replaces P\nP superseded replaced-by-accepted <C>", rowsOut: "P replaced C"},
		{name: "marked rows stay", objects: "P C=P+Q", rows: "P=marked Q=marked",
			want: "C publish only-child\nP marked row"},
		{name: "with complete rows, a split that was not published when its parent was marked never was",
			objects: "P C=P+Q", rows: "P=marked Q=marked", options: complete,
			want: "C orphan parent-marked <P>\nP marked row"},
		{name: "a marked contender does not replace its parents", objects: "P Q C=P+Q", rows: "C=marked-unpublished P=published Q=published",
			want: "C marked row\nP already-published row\nQ already-published row"},
		{name: "a marked parent cannot be published instead, so the contender that covers it is kept",
			objects: "W K Z A=Z+K B=K+W", rows: "W=marked", want: "A orphan sibling-chosen <B>\nB publish chosen <A>\n" +
				"K superseded replaced-by-accepted <B>\nW marked row\nZ publish proven-by-list"},
		{name: "marked staged rows without files change nothing", objects: "P", rows: "P=published X=staged Y=marked",
			want: "P already-published row"},
	})
}

func TestStagedRowsOfOthersAreNotPublished(t *testing.T) {
	adopt := func(o *Options) { o.AdoptStaged = true }
	runRules(t, []ruleCase{
		{name: "somebody staged it", objects: "P", rows: "P=staged-equal", want: "P staged-by-someone row-staged [young-l0]",
			find: []string{"staged-by-someone P"}},
		{name: "and it differs", objects: "P", rows: "P=staged", options: adopt, want: "P staged-by-someone row-staged-differs [young-l0]"},
		{name: "we staged it", objects: "P", rows: "P=staged-ours", want: "P publish unlisted [young-l0] mature already-staged"},
		{name: "an operator adopts them", objects: "P", rows: "P=staged-equal", options: adopt, want: "P publish unlisted [young-l0] mature already-staged"},
		{name: "a merge, in place of its parents", objects: "C=P+Q", rows: "C=staged-equal P=published Q=published", options: adopt,
			want: "C publish only-child already-staged replaces P,Q", rowsOut: "P replaced C; Q replaced C"},
		{name: "one that is not live stays", objects: "P C=P+Q", rows: "P=staged-equal", options: adopt,
			want: "C publish only-child\nP superseded replaced-by-accepted <C>"},
	})
}

func TestARunningClusterIsLeftAlone(t *testing.T) {
	twice := func(o map[string]*Object) {
		for _, object := range o {
			object.RowlessTwice = true
		}
	}
	live := func(o *Options) { o.Live, o.GCHealthy = true, true }
	recover := func(o *Options) { o.Live, o.LiveRecover = true, true }
	runRules(t, []ruleCase{
		{name: "young", objects: "P", options: live, change: twice, want: "P wait young [young-l0]"},
		{name: "seen once", objects: "P@40", options: live, want: "P wait seen-once [young-l0]"},
		{name: "unexplained", objects: "P@40", options: live, change: twice, want: "P withheld live-drift [young-l0]", find: []string{"withheld P"}},
		{name: "unexplained, and an operator wants it", objects: "P@40", options: recover, change: twice, want: "P publish unlisted [young-l0] mature"},
		{name: "a merge whose parent is still Published never was", objects: "C@40=P+Q", rows: "P=published", options: recover, change: twice,
			want: "C orphan parent-published [possible-loss] <P>", rowsOut: "P published-without-object"},
		{name: "nor one whose parent is Marked", objects: "C@40=P+Q", rows: "P=marked", options: recover, change: twice,
			want: "C orphan parent-marked [possible-loss] <P>"},
		{name: "what a Published object lists is superseded", objects: "P@40 C@39=P+Q", rows: "C=published", options: recover, change: twice,
			want: "C already-published row\nP superseded replaced <C>"},
		{name: "a list that contradicts a Published row", objects: "X@40=P+Q D@39=X+S P@50", rows: "P=published", options: recover, change: twice,
			want: "D inconsistent connected <X,P>\nP inconsistent parent-published <X>\nX inconsistent parent-published <P>"},
		{name: "work in progress", objects: "P C=P+Q", rows: "P=published C=staged-equal", options: live,
			want: "C staged-by-someone row-staged\nP already-published row"},
	})
}
