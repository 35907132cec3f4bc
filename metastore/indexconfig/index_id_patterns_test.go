package indexconfig_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"holdfast/metastore/indexconfig"
)

func TestPatternsSelectIndexesByPositiveAndNegativePatterns(t *testing.T) {
	t.Parallel()
	ids := []string{"web-eu", "web-us", "web-us-test", "w_b-x", "audit"}
	for _, c := range []struct{ patterns, want []string }{
		{[]string{"*"}, ids},
		{[]string{"web-*"}, []string{"web-eu", "web-us", "web-us-test"}},
		{[]string{"web-*", "-*-test"}, []string{"web-eu", "web-us"}},
		{[]string{"audit", "web-u*"}, []string{"web-us", "web-us-test", "audit"}},
		{[]string{"WEB-*"}, nil},
		{[]string{"*", "-*"}, nil},
		{[]string{"w_b-*"}, []string{"w_b-x"}}, // "_" is no wildcard, unlike on the peer's PostgreSQL store (H11)
		{[]string{"we_-eu"}, nil},
		{[]string{"-web-us-*", "web-us*"}, []string{"web-us"}},
		{[]string{"*", "-web-eu", "-audit"}, []string{"web-us", "web-us-test", "w_b-x"}}, // any negative one excludes (H30)
		{[]string{"*u*t*"}, []string{"web-us-test", "audit"}},
		{[]string{"*-*-*"}, []string{"web-us-test"}},
		{[]string{"w*"}, []string{"web-eu", "web-us", "web-us-test", "w_b-x"}},
	} {
		p, err := indexconfig.ParseIndexIDPatterns(c.patterns)
		if err != nil {
			t.Errorf("%q: %v", c.patterns, err)
			continue
		}
		var got []string
		for _, id := range ids {
			if p.Match(id) {
				got = append(got, id)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q select %q, want %q", c.patterns, got, c.want)
		}
	}
}

func TestInvalidPatternsAreRefused(t *testing.T) {
	t.Parallel()
	for _, patterns := range [][]string{
		nil, {}, {"-"}, {"-web-*"}, {"--x"}, {"we"}, {"we**"}, {"_x*"}, {"we b*"}, {""}, {"*", "--web"}, {"*", "-"},
		{"web-*", "-ab"}, {"web-*", "we"}, {"1eb*"}, {"web!"}, {"föö*"}, {"web*\n"}, {strings.Repeat("a", 256)}, {"web-**"},
	} {
		if _, err := indexconfig.ParseIndexIDPatterns(patterns); err == nil {
			t.Errorf("%q: accepted", patterns)
		} else if len(err.Error()) > 400 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: message %q", patterns, err)
		}
	}
}

func TestAStarMakesLaterPatternsOfItsSignIrrelevant(t *testing.T) {
	t.Parallel()
	p, err := indexconfig.ParseIndexIDPatterns([]string{"abc", "*", "x**", "-a*", "-*", "-**"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.Positive(), []string{"*"}) || !slices.Equal(p.Negative(), []string{"*"}) {
		t.Errorf("patterns %q, %q", p.Positive(), p.Negative())
	}
	if _, err := indexconfig.ParseIndexIDPatterns([]string{"x**", "*"}); err == nil {
		t.Error("an invalid pattern before the star was accepted")
	}
}

func TestOnlyAStarWithoutNegativePatternsMatchesAll(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		patterns []string
		want     bool
	}{{[]string{"*"}, true}, {[]string{"abc", "*"}, true}, {[]string{"*", "-abc"}, false}, {[]string{"a*"}, false}} {
		p, err := indexconfig.ParseIndexIDPatterns(c.patterns)
		if err != nil || p.MatchesAll() != c.want {
			t.Errorf("%q: matches all %v, %v", c.patterns, !c.want, err)
		}
	}
}

func TestRecordedListsOfPatternsAreDecidedLikeThePeer(t *testing.T) {
	t.Parallel()
	played := 0
	for _, scenario := range recordedScenarios(t) {
		for i, step := range scenario.Steps {
			if step.RPC != "ListIndexesMetadata" && step.RPC != "ListIndexStats" {
				continue
			}
			played++
			var patterns []string
			if list, found := step.Request["indexIdPatterns"]; found {
				if err := json.Unmarshal(list, &patterns); err != nil {
					t.Fatal(err)
				}
			}
			_, err := indexconfig.ParseIndexIDPatterns(patterns)
			if accepted := step.answered().Code == "OK"; (err == nil) != accepted {
				t.Errorf("%s %d: %q: %v, the peer answered %s", scenario.Name, i, patterns, err, step.answered().Code)
			}
		}
	}
	if want := 109; played != want {
		t.Errorf("played %d lists, recorded are %d", played, want)
	}
}

func TestMatchingAgreesWithRegularExpressions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab*]([ab._*-]){0,8}`).Draw(t, "pattern")
		id := rapid.StringMatching(`[ab][ab._-]{0,12}`).Draw(t, "id")
		p, err := indexconfig.ParseIndexIDPatterns([]string{pattern})
		if err != nil {
			return
		}
		expression := fmt.Sprintf("^%s$", strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*"))
		if got, want := p.Match(id), regexp.MustCompile(expression).MatchString(id); got != want {
			t.Fatalf("pattern %q, id %q: matches %v, want %v", pattern, id, got, want)
		}
	})
}

func TestIndexIDsAreValidated(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"foo", "f-_", "foo.bar", "Foo", "f00", "abc" + strings.Repeat("x", 252)} {
		if err := indexconfig.ValidateIndexID(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []string{"", "f", "fo", "-foo", "_foo", ".foo", "1foo", "foo!", "foo bar", "foo/bar", "foo:bar", "föö", "foo*",
		"../foo", "foo\n", "foo\x00", strings.Repeat("x", 256)} {
		if err := indexconfig.ValidateIndexID(id); err == nil {
			t.Errorf("%q: accepted", id)
		} else if len(err.Error()) > 300 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: message %q", id, err)
		}
	}
}
