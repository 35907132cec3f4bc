package lineage

import (
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/metastore"
)

// ruleCase is one rule on one small bucket.
type ruleCase struct {
	name    string
	objects string
	rows    string
	options func(*Options)
	change  func(objects map[string]*Object)
	want    string   // decisionsText
	rowsOut string   // "P replaced C; Q published-without-object"
	find    []string // findings that must be there
}

func runRules(t *testing.T, cases []ruleCase) {
	t.Helper()
	t.Parallel()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			objects := drawn(t, c.objects)
			if c.change != nil {
				byID := map[string]*Object{}
				for i := range objects {
					byID[objects[i].ID] = &objects[i]
				}
				c.change(byID)
			}
			options := testOptions()
			if c.options != nil {
				c.options(&options)
			}
			eachOrder(objects, rowsOf(t, c.rows), func(objects []Object, rows []Row) {
				plan := mustDecide(t, objects, rows, options)
				if got := decisionsText(plan); got != c.want {
					t.Fatalf("got\n%s\nwant\n%s", got, c.want)
				}
				var rowTexts []string
				for _, r := range plan.Rows {
					rowTexts = append(rowTexts, strings.TrimSpace(r.ID+" "+r.Kind.String()+" "+r.By))
				}
				if got := strings.Join(rowTexts, "; "); got != c.rowsOut {
					t.Fatalf("rows: got %q, want %q", got, c.rowsOut)
				}
				for _, want := range c.find {
					if !slices.Contains(findingsText(plan), want) {
						t.Fatalf("findings %q lack %q", findingsText(plan), want)
					}
				}
			})
		})
	}
}

func attest(o *Options) { o.GCHealthy = true }

func TestAgeProvesPublicationOnlyIfTheJanitorIsAttested(t *testing.T) {
	runRules(t, []ruleCase{
		{name: "attested and old", objects: "P@40", options: attest, want: "P publish proven-by-age"},
		{name: "old and not attested", objects: "P@40", want: "P publish unlisted [young-l0] mature", find: []string{"age-rule-off"}},
		{name: "attested and younger than horizon and skew", objects: "P@27", options: attest, want: "P publish unlisted [young-l0] mature"},
		{name: "attested and just older", objects: "P@28", options: attest, want: "P publish proven-by-age"},
		{name: "the later of creation and writing counts", objects: "P@40", options: attest,
			change: func(o map[string]*Object) { o["P"].LastModified = now - hour },
			want:   "P publish unlisted [young-l0] mature"},
		{name: "an upload that took long may have outlived its row", objects: "P@60", options: attest,
			change: func(o map[string]*Object) { o["P"].LastModified = now - 30*hour },
			want:   "P publish unlisted [young-l0] mature"},
		{name: "in a copied bucket creation alone counts", objects: "P@40",
			options: func(o *Options) { o.GCHealthy, o.IgnoreLastModified = true, true },
			change:  func(o map[string]*Object) { o["P"].LastModified = now },
			want:    "P publish proven-by-age"},
		{name: "a longer horizon", objects: "P@40",
			options: func(o *Options) { o.GCHealthy, o.Horizon = true, 74*time.Hour },
			want:    "P publish unlisted [young-l0] mature"},
		{name: "the reference time defaults to the last write", objects: "P@40 Q@1", options: func(o *Options) { o.GCHealthy, o.ReferenceTime = true, 0 },
			want: "P publish proven-by-age\nQ publish unlisted [young-l0] mature"},
	})
}

func TestLosersOfAPublishedSiblingAreOrphans(t *testing.T) {
	runRules(t, []ruleCase{
		{name: "the sibling is old", objects: "C1@40=P1+P2 C2=P2+P3 P3", options: attest,
			want: "C1 publish proven-by-age\nC2 orphan sibling-published <C1>\nP3 publish proven-by-list"},
		{name: "the sibling is published", objects: "C1=P1+P2 C2=P1+P2", rows: "C2=published",
			want: "C1 orphan sibling-published <C2>\nC2 already-published row"},
		{name: "the sibling was published and is marked", objects: "C1=P1+P2 C2=P1+P2", rows: "C2=marked",
			want: "C1 orphan sibling-published [possible-loss] <C2>\nC2 marked row"},
		{name: "the sibling was marked and never published", objects: "C1=P1+P2 C2=P1+P2", rows: "C2=marked-unpublished",
			want: "C1 publish only-child\nC2 marked row"},
		{name: "an orphan's list proves its parents", objects: "C1=P1+P2 C2=P2+P3 D=C2+P4 P1", want: "C1 orphan sibling-published <C2>\n" +
			"C2 superseded replaced-by-accepted <D>\nD publish only-child\nP1 publish proven-by-list [hidden-link] mature <D>"},
	})
}

func TestContestedGroupsKeepTheDocumentsThatNothingElseHolds(t *testing.T) {
	runRules(t, []ruleCase{
		{name: "a missing parent of its own comes first", objects: "P1 P2 C1=P1+P2 C2=P2+P3",
			want: "C1 orphan sibling-chosen <C2>\nC2 publish chosen <C1>\nP1 publish proven-by-list [hidden-link] mature <C2>\n" +
				"P2 superseded replaced-by-accepted <C2>"},
		{name: "two that each have one cannot both be kept", objects: "P2 C1=P1+P2 C2=P2+P3",
			want: "C1 publish chosen [ambiguous] mature <C2>\nC2 orphan sibling-chosen [ambiguous,possible-loss] <C1>\n" +
				"P2 superseded replaced-by-accepted <C1>",
			find: []string{"ambiguous C2,C1", "possible-loss C2,P3"}},
		{name: "a selection that covers every missing parent beats a better first choice",
			// X and Z are gone; only W covers both.
			objects: "P1 P2 V=X+P1+P2 W=X+Z Y=Z+P2",
			want: "P1 publish proven-by-list [hidden-link] mature <W>\nP2 publish proven-by-list [hidden-link] mature <W>\n" +
				"V orphan sibling-chosen <W>\nW publish chosen <V,Y>\nY orphan sibling-chosen <W>"},
		{name: "the later of two rewrites", objects: "P R1=P R2=P",
			change: func(o map[string]*Object) { o["R2"].DeleteOpstamp, o["R2"].NumDocs = 5, 2 },
			want: "P superseded replaced-by-accepted <R2>\nR1 orphan sibling-chosen <R2>\n" +
				"R2 publish chosen <R1>"},
		{name: "more parents", objects: "P Q S A=P+Q B=P+Q+S",
			want: "A orphan sibling-chosen <B>\nB publish chosen <A>\nP superseded replaced-by-accepted <B>\n" +
				"Q superseded replaced-by-accepted <B>\nS superseded replaced-by-accepted <B>"},
		{name: "one that somebody staged comes after one that nobody did", objects: "P Q A=P+Q B=P+Q", rows: "A=staged-equal",
			want: "A orphan sibling-chosen <B>\nB publish chosen <A>\nP superseded replaced-by-accepted <B>\nQ superseded replaced-by-accepted <B>"},
	})
}

func TestEdgesThatNoWriterMakesPutTheFamilyAside(t *testing.T) {
	connected := "\nD inconsistent connected <C,P>\nP inconsistent %s <C>\nS inconsistent connected <C,P>"
	edge := func(name, reason string, change func(o map[string]*Object)) ruleCase {
		return ruleCase{name: name, objects: "P Q C=P+Q S D=C+S", change: change, find: []string{"inconsistent C,P"},
			want: "C inconsistent " + reason + " <P>" + strings.Replace(connected, "%s", reason, 1)[:len("\nD inconsistent connected <C,P>")] +
				"\nP inconsistent " + reason + " <C>\nQ inconsistent connected <C,P>\nS inconsistent connected <C,P>"}
	}
	runRules(t, []ruleCase{
		edge("another source", "edge-source", func(o map[string]*Object) { o["P"].SourceID = "other" }),
		edge("another doc mapping", "edge-doc-mapping", func(o map[string]*Object) { o["P"].DocMappingUID[0] = 1 }),
		edge("merge operations not above a parent's", "edge-merge-ops", func(o map[string]*Object) { o["P"].NumMergeOps = 1 }),
		edge("fewer documents than a parent", "edge-docs", func(o map[string]*Object) { o["P"].NumDocs = 21 }),
		{name: "documents that are not the sum", objects: "P Q C=P+Q", change: func(o map[string]*Object) { o["C"].NumDocs++ },
			want: "C inconsistent edge-docs <P,Q>\nP inconsistent edge-docs <C,Q>\nQ inconsistent edge-docs <C,P>"},
		{name: "a sum beyond the range of numbers", objects: "P Q C=P+Q", change: func(o map[string]*Object) { o["Q"].NumDocs, o["C"].NumDocs = 1<<64-1, 1<<64-1 },
			want: "C publish only-child\nP superseded replaced-by-accepted <C>\nQ superseded replaced-by-accepted <C>"},
		{name: "more than the sum is possible while a parent is missing", objects: "P C=P+Q",
			want: "C publish only-child\nP superseded replaced-by-accepted <C>"},
		{name: "less than the sum is not", objects: "P Q C=P+Q+S", change: func(o map[string]*Object) { o["C"].NumDocs = 15 },
			want: "C inconsistent edge-docs <P,Q,S>\nP inconsistent edge-docs <C,Q,S>\nQ inconsistent edge-docs <C,P,S>"},
		{name: "a rewrite with another number of merge operations", objects: "P R=P", change: func(o map[string]*Object) { o["R"].NumMergeOps = 1 },
			want: "P inconsistent edge-merge-ops <R>\nR inconsistent edge-merge-ops <P>"},
		{name: "a rewrite with more documents", objects: "P R=P", change: func(o map[string]*Object) { o["R"].NumDocs = 11 },
			want: "P inconsistent edge-docs <R>\nR inconsistent edge-docs <P>"},
		{name: "a rewrite without a later opstamp", objects: "P R=P", change: func(o map[string]*Object) { o["P"].DeleteOpstamp = 1 },
			want: "P inconsistent edge-opstamp <R>\nR inconsistent edge-opstamp <P>"},
		{name: "a parent of another incarnation", objects: "P C=P+Q", change: func(o map[string]*Object) { o["P"].IndexUID.Incarnation[15] = 3 },
			want: "C inconsistent edge-index <P>\nP foreign-incarnation other-incarnation"},
		{name: "a split that lists itself", objects: "P Q C=P+Q", change: func(o map[string]*Object) { o["P"].Parents = []string{"P"} },
			want: "C inconsistent connected <P>\nP inconsistent self-parent\nQ inconsistent connected <P>"},
		{name: "two that list each other", objects: "A=B+X B=A+Y", change: func(o map[string]*Object) { o["A"].NumMergeOps = 9 },
			want: "A inconsistent edge-docs <B>\nB inconsistent edge-docs <A>"},
		{name: "times are no reason", objects: "P Q C@90=P+Q", want: "C publish only-child\nP superseded replaced-by-accepted <C>\nQ superseded replaced-by-accepted <C>"},
		{name: "other families go on", objects: "P R=P Z", change: func(o map[string]*Object) { o["R"].NumDocs = 11 },
			want: "P inconsistent edge-docs <R>\nR inconsistent edge-docs <P>\nZ publish unlisted [young-l0] mature"},
		{name: "a parent named twice counts once", objects: "P Q C=P+Q", change: func(o map[string]*Object) { o["C"].Parents = []string{"P", "Q", "P"} },
			want: "C publish only-child\nP superseded replaced-by-accepted <C>\nQ superseded replaced-by-accepted <C>"},
	})
}

func TestOnlyOneIncarnationIsRecovered(t *testing.T) {
	older := func(o map[string]*Object) { o["P"].IndexUID.Incarnation[15] = 3 }
	older3 := testUID
	older3.Incarnation[15] = 3
	runRules(t, []ruleCase{
		{name: "the named one", objects: "P Q", change: older, options: func(o *Options) { o.IndexUID = older3 },
			want: "P publish unlisted [young-l0] mature\nQ foreign-incarnation other-incarnation", find: []string{"other-incarnations Q"}},
		{name: "else the greatest", objects: "P Q", change: older, options: func(o *Options) { o.IndexUID = metastore.IndexUID{IndexID: "logs"} },
			want: "P foreign-incarnation other-incarnation\nQ publish unlisted [young-l0] mature", find: []string{"other-incarnations P"}},
		{name: "and its aliases, with links across", objects: "P C=P+Q", change: older, options: func(o *Options) { o.Aliases = []metastore.IndexUID{older3} },
			want: "C publish only-child\nP superseded replaced-by-accepted <C>"},
		{name: "another index is foreign", objects: "P", change: func(o map[string]*Object) { o["P"].IndexUID.IndexID = "logs-old" },
			want: "P foreign-incarnation other-index"},
	})
}

func TestUnreadableObjectsAreNeitherAbsentNorActedUpon(t *testing.T) {
	runRules(t, []ruleCase{
		{name: "reported", objects: "P~", want: "P unreadable unreadable", find: []string{"unreadable P"}},
		{name: "contained in a live split, no person is needed", objects: "P~ C=P+Q", want: "C publish only-child\nP unreadable unreadable <C>"},
		{name: "with a Published row it may contain anything older", objects: "U~ P", rows: "U=published",
			change:  func(o map[string]*Object) { o["U"].LastModified = now },
			want:    "P publish unlisted [young-l0,hidden-link] mature <U>\nU unreadable unreadable",
			rowsOut: "U published-without-object", find: []string{"published-without-object U"}},
	})
}

func TestLegacyObjectsAreDecidedOnlyByListsAndAge(t *testing.T) {
	runRules(t, []ruleCase{
		{name: "listed by a published child", objects: "P? C@40=P+Q", options: attest, want: "C publish proven-by-age\nP superseded replaced <C>"},
		{name: "unlisted and all old", objects: "P?@40 Q?@50", options: attest,
			want: "P publish legacy-old mature\nQ publish legacy-old mature"},
		{name: "one young makes all undecided", objects: "P?@40 Q?@1", options: attest,
			want: "P legacy-undecided legacy-unlinked\nQ legacy-undecided legacy-unlinked", find: []string{"legacy-undecided P,Q"}},
		{name: "nobody attests the janitor", objects: "P?@40", want: "P legacy-undecided legacy-unlinked"},
		{name: "the time of the id is unknown", objects: "P?@40", options: attest, change: func(o map[string]*Object) { o["P"].CreateTimestamp = 0 },
			want: "P legacy-undecided legacy-unlinked"},
		{name: "listed by an orphan only", objects: "L?@40 P Q R C1=L+P C2=P+Q+R", options: attest,
			want: "C1 publish chosen <C2>\nC2 orphan sibling-chosen <C1>\nL superseded replaced-by-accepted <C1>\nP superseded replaced-by-accepted <C1>\n" +
				"Q publish proven-by-list [hidden-link] mature <C1>\nR publish proven-by-list [hidden-link] mature <C1>"},
		{name: "with a Published row", objects: "P?", rows: "P=published", want: "P already-published row"},
	})
}

func noDeletes(o *Options) { o.NoDeleteTasks = true }

func TestHiddenLinksAreSuspectedWhereTheyCanBe(t *testing.T) {
	runRules(t, []ruleCase{
		{name: "another partition cannot contain it", objects: "P:1 -C=P+Q D=C+S", want: "D publish only-child\nP publish unlisted [young-l0] mature"},
		{name: "another time range cannot", objects: "P -C=P+Q D=C+S", change: func(o map[string]*Object) {
			o["P"].TimeRange = metastore.Some(metastore.TimeRange{Start: 1, End: 5})
			o["D"].TimeRange = metastore.Some(metastore.TimeRange{Start: 6, End: 9})
		}, want: "D publish only-child\nP publish unlisted [young-l0] mature"},
		{name: "one that was made long before it cannot", objects: "-C@9=X+Y D@8=C+S P@1", want: "D publish only-child\nP publish unlisted [young-l0] mature"},
		{name: "a merge of as many operations cannot", objects: "P C=P+Q D=A+B", options: noDeletes, want: "C publish only-child\nD publish only-child\nP superseded replaced-by-accepted <C>"},
		{name: "a rewrite of a missing rewrite can, with equal merge operations", objects: "P -R=P RR=R",
			want: "P publish unlisted [young-l0,hidden-link] mature <RR>\nRR publish only-child"},
		{name: "one merge more may do, as the hidden split may be a rewrite", objects: "P D=C+S",
			want: "D publish only-child\nP publish unlisted [young-l0,hidden-link] mature <D>"},
		{name: "but not where no delete task ever ran", objects: "P D=C+S", options: noDeletes,
			want: "D publish only-child\nP publish unlisted [young-l0] mature"},
		{name: "which a rewrite disproves", objects: "P D=C+S R=Q", options: noDeletes,
			want: "D publish only-child [hidden-link] mature <R>\nP publish unlisted [young-l0,hidden-link] mature <D>\nR publish only-child [hidden-link] mature <D>"},
		{name: "the gap may be further up", objects: "P -C=P+Q D=C+S E=D+Z",
			want: "D superseded replaced-by-accepted <E>\nE publish only-child\nP publish unlisted [young-l0,hidden-link] mature <E>"},
		{name: "an unpublished sibling made later and of more operations",
			// C and M(A,B) both had the parent A; C was published, merged into D, and is gone.
			objects: "-A@9 -C@8=A+X D@7=C+Y -B1@9=U+V -B@9=B1+W M@1=A+B",
			want:    "D publish only-child [hidden-link] mature <M>\nM publish only-child [hidden-link] mature <D>", find: []string{"hidden-link D,M"}},
		{name: "a legacy split with an old row, under a new split with a legacy parent", objects: "L? M? C=M", rows: "L=published",
			want: "C publish only-child [hidden-link] mature <L>\nL already-published row [hidden-link] <C>\nM superseded replaced-by-accepted <C>"},
		{name: "a legacy split that is live for its age, under a young split with a missing ancestor", objects: "L?@40 D=C+S", options: attest,
			want: "D publish only-child\nL publish legacy-old [hidden-link] mature <D>"},
		{name: "a person may want to decide", objects: "P -C=P+Q D=C+S", options: func(o *Options) { o.HiddenLink = Withhold },
			want: "D publish only-child\nP withheld policy-hidden-link [young-l0,hidden-link] <D>", find: []string{"withheld P"}},
	})
}

func TestPoliciesForYoungSplits(t *testing.T) {
	runRules(t, []ruleCase{
		{name: "unchanged", objects: "P", options: func(o *Options) { o.YoungL0 = PublishUnchanged }, want: "P publish unlisted [young-l0]"},
		{name: "withhold", objects: "P", options: func(o *Options) { o.YoungL0 = Withhold }, want: "P withheld policy-young-l0 [young-l0]"},
	})
}

func TestRecentMarksAreReportedUnlessRuledOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		last   metastore.Optional[int64]
		found  bool
		person bool
	}{
		{"unknown", metastore.Optional[int64]{}, true, false},
		{"shortly before", metastore.Some(now - hour), true, true},
		{"long before", metastore.Some(now - 4*hour), false, false},
	} {
		options := testOptions()
		options.LastMark = c.last
		plan := mustDecide(t, drawn(t, "P"), nil, options)
		at := slices.IndexFunc(plan.Findings, func(f Finding) bool { return f.Code == FindingRecentMarkRisk })
		if at >= 0 != c.found || c.found && plan.Findings[at].NeedsPerson != c.person {
			t.Errorf("%s: findings %v", c.name, plan.Findings)
		}
	}
}
