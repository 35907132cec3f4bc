package replay

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"holdfast/metastore"
)

func parsed(t *testing.T, text string) *answer {
	t.Helper()
	var a answer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatalf("answer %s: %v", text, err)
	}
	return &a
}

func TestAnswersAreCompared(t *testing.T) {
	t.Parallel()
	start := time.Now()
	now := start.Unix()
	uid := metastore.IndexUID{IndexID: "i", Incarnation: ulid.Make()}
	old := metastore.IndexUID{IndexID: "i", Incarnation: ulid.Make()}
	listing := func(splits string) string {
		return `{"code":"OK","responses":[{"splitsSerializedJson":{"$json":[` + splits + `]}}]}`
	}
	tasks := func(opstamps ...int) string {
		var list []string
		for _, opstamp := range opstamps {
			list = append(list, fmt.Sprintf(`{"opstamp":"%d"}`, opstamp))
		}
		return `{"code":"OK","responses":[{"deleteTasks":[` + strings.Join(list, ",") + `]}]}`
	}
	splitsError := func(ids, message string) string {
		return `{"code":"NotFound","qw_error":{"NotFound":{"splits":{"split_ids":[` + ids + `]},"message":"` + message + `"}}}`
	}
	for name, c := range map[string]struct {
		want, got string
		matcher   matcher
		same      bool
	}{
		"equal":                        {want: listing(`{"a":1}`), got: listing(`{"a":1}`), same: true},
		"another code":                 {want: `{"code":"OK"}`, got: `{"code":"NotFound"}`},
		"another number":               {want: listing(`{"a":1}`), got: listing(`{"a":2}`)},
		"another spelling of a number": {want: listing(`{"a":1}`), got: listing(`{"a":1.0}`)},
		"a number as text":             {want: listing(`{"a":1}`), got: listing(`{"a":"1"}`)},
		"null for absent":              {want: listing(`{"a":null}`), got: listing(`{}`)},
		"another order of keys":        {want: listing(`{"a":1,"b":2}`), got: listing(`{"b":2,"a":1}`)},
		"another order of fields": {
			want: `{"code":"OK","responses":[{"a":{},"b":{}}]}`, got: `{"code":"OK","responses":[{"b":{},"a":{}}]}`, same: true,
		},
		"a field too many":              {want: `{"code":"OK","responses":[{}]}`, got: `{"code":"OK","responses":[{"b":{}}]}`},
		"a field too few":               {want: `{"code":"OK","responses":[{"b":{}}]}`, got: `{"code":"OK","responses":[{}]}`},
		"other chunks":                  {want: `{"code":"OK","responses":[{},{}]}`, got: `{"code":"OK","responses":[{}]}`},
		"another order of splits":       {want: listing(`{"a":1},{"a":2}`), got: listing(`{"a":2},{"a":1}`)},
		"any order, when it is open":    {want: listing(`{"a":1},{"a":2}`), got: listing(`{"a":2},{"a":1}`), matcher: matcher{openOrder: true}, same: true},
		"any order, when it varies":     {want: listing(`{"a":1},{"a":2}`), got: listing(`{"a":2},{"a":1}`), matcher: matcher{sets: true}, same: true},
		"a repetition in an open order": {want: listing(`{"a":1},{"a":2}`), got: listing(`{"a":1},{"a":1}`), matcher: matcher{openOrder: true}},
		"another opstamp":               {want: `{"code":"OK","responses":[{"opstamp":"3"}]}`, got: `{"code":"OK","responses":[{"opstamp":"7"}]}`},
		"another drawn opstamp": {
			want: tasks(3, 4, 3), got: tasks(7, 9, 7), matcher: matcher{drawnOpstamps: true}, same: true,
		},
		"a drawn opstamp that is another one later": {want: tasks(3, 3), got: tasks(7, 8), matcher: matcher{drawnOpstamps: true}},
		"drawn opstamps in another order":           {want: tasks(3, 4), got: tasks(8, 7), matcher: matcher{drawnOpstamps: true}},
		"a drawn opstamp twice":                     {want: tasks(3, 4), got: tasks(7, 7), matcher: matcher{drawnOpstamps: true}},
		"a time of the run":                         {want: listing(`{"at":"<now>"}`), got: listing(fmt.Sprintf(`{"at":%d}`, now)), same: true},
		"a time before the run":                     {want: listing(`{"at":"<now>"}`), got: listing(fmt.Sprintf(`{"at":%d}`, now-60))},
		"no time":                                   {want: listing(`{"at":"<now>"}`), got: listing(`{"at":null}`)},
		"the index UID":                             {want: listing(`{"u":"${uid:i}"}`), got: listing(`{"u":"` + uid.String() + `"}`), same: true},
		"the former index UID":                      {want: listing(`{"u":"${uid:i}"}`), got: listing(`{"u":"` + old.String() + `"}`)},
		"any ULID":                                  {want: listing(`{"u":"i:<ulid>"}`), got: listing(`{"u":"` + uid.String() + `"}`), same: true},
		"no ULID":                                   {want: listing(`{"u":"<ulid>"}`), got: listing(`{"u":"x"}`)},
		"another wording":                           {want: splitsError(`"a"`, "gone"), got: splitsError(`"a"`, "not found"), same: true},
		"other ids":                                 {want: splitsError(`"a"`, ""), got: splitsError(`"b"`, "")},
		"another order of ids":                      {want: splitsError(`"a","b"`, ""), got: splitsError(`"b","a"`, "")},
		"any order of ids, if it is open":           {want: splitsError(`"a","b"`, ""), got: splitsError(`"b","a"`, ""), matcher: matcher{errorSets: true}, same: true},
		"another kind":                              {want: `{"code":"Internal","qw_error":{"Db":{}}}`, got: `{"code":"Internal","qw_error":{"Internal":{}}}`},
		"no detail":                                 {want: `{"code":"Internal","qw_error":{"Db":{}}}`, got: `{"code":"Internal"}`},
		"a detail where none is wanted":             {want: `{"code":"Internal"}`, got: `{"code":"Internal","qw_error":{"Db":{}}}`},
		"the incarnation": {
			want: `{"code":"OK","responses":[{"incarnationId":"${uid:i}"}]}`, got: `{"code":"OK","responses":[{"incarnationId":"` + incarnationText(uid) + `"}]}`, same: true,
		},
		"another incarnation": {
			want: `{"code":"OK","responses":[{"incarnationId":"${uid:i}"}]}`, got: `{"code":"OK","responses":[{"incarnationId":"` + incarnationText(old) + `"}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := c.matcher
			m.start = start // of all: a sub-test may wait long for its turn
			m.names = newNames()
			m.names.created(old)
			m.names.created(uid)
			difference := m.match(parsed(t, c.want), parsed(t, c.got))
			if (difference == "") != c.same {
				t.Errorf("the difference is %q, want none: %v", difference, c.same)
			}
		})
	}
}

func TestAUUIDIsTheSameWhereTheRecordingHasTheSame(t *testing.T) {
	t.Parallel()
	const first, second = "c5af39ac-6ed4-41e5-93df-2dc29263f324", "5ac375cd-8958-4413-9993-fdffe42c16a5"
	m := matcher{names: newNames()}
	if difference := m.matchUUID("", first, second); difference != "" {
		t.Error(difference)
	}
	if m.matchUUID("", first, first) == "" {
		t.Error("another UUID for the same recorded one was accepted")
	}
}

func TestPlaceholdersAreReplaced(t *testing.T) {
	t.Parallel()
	n := newNames()
	old := metastore.IndexUID{IndexID: "i", Incarnation: ulid.Make()}
	uid := metastore.IndexUID{IndexID: "i", Incarnation: ulid.Make()}
	n.created(old)
	n.created(uid)
	for text, want := range map[string]string{
		`"$uid:i"`:                         uidValue(uid).String(),
		`"$old:i"`:                         uidValue(old).String(),
		`{"$json":{"u":"${uid:i}","n":1}}`: stringValue(`{"u":"` + uid.String() + `","n":1}`).String(),
		`{"$raw":"{\"u\":\"${old:i}\",}"}`: stringValue(`{"u":"` + old.String() + `",}`).String(),
		`[{"$repeat":2,"from":9,"item":{"id":"s-${i3}-${i}"}},"x"]`: `[{"id":"s-009-9"},{"id":"s-010-10"},"x"]`,
		`[{"$repeat":2,"item":"${i}"}]`:                             `["0","1"]`,
	} {
		v, err := parseValue([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := n.expand(v); err != nil || got.String() != want {
			t.Errorf("%s becomes %s, %v, want %s", text, got, err, want)
		}
	}
	if _, err := n.expand(stringValue("$uid:unknown")); err == nil {
		t.Error("a placeholder of an index that was not created was accepted")
	}
}

func TestValuesKeepTheirText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"b":1,"a":[18446744073709551615,1.50,-0,1e3,null,true,false,"é\n"]}`, `[]`, `{}`, `""`} {
		v, err := parseValue([]byte(text))
		if err != nil || v.String() != text {
			t.Errorf("%s becomes %s, %v", text, v, err)
		}
	}
	for _, text := range []string{``, `{`, `1 2`, `{"a":}`, `[1,]`, `nul`} {
		if v, err := parseValue([]byte(text)); err == nil {
			t.Errorf("%q was read as %s", text, v)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := stringValue(rapid.String().Draw(t, "text"))
		if back, err := parseValue(text.append(nil)); err != nil || back.text != text.text {
			t.Fatalf("%q becomes %q, %v", text.text, back.text, err)
		}
	})
}

func TestTheTableIsCheckedAgainstTheScenarios(t *testing.T) {
	t.Parallel()
	scenarios := []scenario{{Name: "s", Steps: make([]step, 2)}}
	row := deviation{rule: "r", scenario: "s", steps: []int{1}, backend: File}
	for name, c := range map[string]struct {
		rows []deviation
	}{
		"a step that does not exist":     {[]deviation{{rule: "r", scenario: "s", steps: []int{3}}}},
		"a scenario that does not exist": {[]deviation{{rule: "r", scenario: "x", steps: []int{1}}}},
		"a step twice":                   {[]deviation{row, row}},
	} {
		if _, err := newExpectations(scenarios, c.rows); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if _, err := newExpectations(scenarios, []deviation{row}); err != nil {
		t.Error(err)
	}
}

func TestADeviationThatDisappearsOrChangesIsAFailure(t *testing.T) {
	t.Parallel()
	recorded := &answer{Code: "OK"}
	scenarios := []scenario{{Name: "s", Steps: []step{{RPC: "X", Answer: recorded}, {RPC: "X", Answer: recorded}, {RPC: "X", Answer: &answer{Code: "Canceled"}}}}}
	e, err := newExpectations(scenarios, []deviation{{rule: "r", scenario: "s", steps: []int{1, 2}, backend: File, want: refused("InvalidArgument")}})
	if err != nil {
		t.Fatal(err)
	}
	m := &matcher{names: newNames(), start: time.Now()}
	check := func(step int, backend Backend, got *answer) string {
		return e.check(m, "s", step, &scenarios[0].Steps[step-1], backend, got)
	}
	for name, c := range map[string]struct {
		problem string
		fine    bool
	}{
		"the deviation as in the table":    {check(1, File, refusal("InvalidArgument")), true},
		"the deviation has disappeared":    {check(1, File, recorded), false},
		"the deviation has changed":        {check(1, File, refusal("Internal")), false},
		"the other store does not deviate": {check(1, Postgres, refusal("InvalidArgument")), false},
		"the other store as recorded":      {check(1, Postgres, recorded), true},
		"a crash is refused":               {check(3, File, refusal("InvalidArgument")), true},
		"a crash is not copied":            {check(3, File, &answer{Code: "Canceled"}), false},
		"a step that was not played":       {e.checkMet("s", File), false},
	} {
		if (c.problem == "") != c.fine {
			t.Errorf("%s: the problem is %q", name, c.problem)
		}
	}
}
