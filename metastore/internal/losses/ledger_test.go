package losses_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"holdfast/metastore/internal/losses"
)

// lost compares two documents.
func lost(t *testing.T, shape *losses.Shape, before, after string) []losses.Loss {
	t.Helper()
	var l losses.Ledger
	if err := l.Compare(shape, []byte(before), func(dst []byte) []byte { return append(dst, after...) }); err != nil {
		t.Fatal(err)
	}
	return l.Losses()
}

func TestWhatIsNotWrittenIsLostAndWhatIsWrittenOtherwiseIsNot(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ before, after, want string }{
		{`{"a": 1, "b": [true, null]}`, `{"b":[true,null],"a":1}`, ""},
		{`{"a": "\u00e4\n"}`, `{"a":"ä\n","more":1}`, ""},
		{`{"a": 1.50, "b": 1e2}`, `{"a":1.5,"b":100.0}`, ""},
		{`{"a": 1.0}`, `{"a":1}`, "changed a"},
		{`{"a": 18446744073709551615}`, `{"a":18446744073709551614}`, "changed a"},
		{`{"a": "1"}`, `{"a":1}`, "changed a"},
		{`{"a": {"b": {"c": 1}}}`, `{"a":{"b":{}}}`, "left_out a.b.c"},
		{`{"a": {"b": 1, "c": 2}}`, `{}`, "left_out a"},
		{`{"a": [{}, {"b": 1}]}`, `{"a":[{},{}]}`, "left_out a[1].b"},
		{`{"a": [1, 2]}`, `{"a":[1]}`, "changed a"},
		{`{"a": 1, "a": 2}`, `{"a":2}`, "repeated a"},
		{`{"a": 1, "a": 2}`, `{"a":1}`, "repeated a, changed a"},
		{`{"a": 1, "a": 2}`, `{"a":1,"a":2}`, ""},
		{`{"": 1}`, `{}`, `left_out [""]`},
		{`{"a.b\n": {"ü": 1}}`, `{"a.b\n":{}}`, `left_out ["a.b\n"]["ü"]`},
		{`[]`, `{}`, "changed "},
	} {
		var got []string
		for _, loss := range lost(t, nil, test.before, test.after) {
			got = append([]string{fmt.Sprint(loss.Reason, " ", loss.First)}, got...)
		}
		if text := strings.Join(got, ", "); text != test.want {
			t.Errorf("%s written as %s: lost are %q, want %q", test.before, test.after, text, test.want)
		}
	}
}

func TestLargeObjectsAreComparedAsSmallOnesAre(t *testing.T) {
	t.Parallel()
	for _, members := range []int{2, 1000} {
		var before, after []string
		for i := range members {
			before = append(before, fmt.Sprintf(`"%d": %d`, i, i))
			after = append([]string{fmt.Sprintf(`"%d":%d`, i, i)}, after...)
		}
		before = append(before, `"1": 7`, `"gone": 1`, `"gone": 2`, `"both": 1`, `"both": 2`)
		after = append(after, `"both":1`, `"both":2`)
		list := lost(t, nil, "{"+strings.Join(before, ",")+"}", "{"+strings.Join(after, ",")+"}")
		want := []losses.Loss{
			{Path: "1", Reason: losses.Changed, Count: 1, First: "1"},
			{Path: "1", Reason: losses.Repeated, Count: 1, First: "1"},
			{Path: "gone", Reason: losses.LeftOut, Count: 2, First: "gone"},
		}
		if !reflect.DeepEqual(list, want) {
			t.Errorf("%d members: lost are %+v, want %+v", members, list, want)
		}
	}
}

func TestALedgerIsBoundedAndCountsEverything(t *testing.T) {
	t.Parallel()
	var l losses.Ledger
	long := strings.Repeat("ä", 1000)
	const members = 5000
	for i := range members {
		l.Enter(fmt.Sprint("member-", i%1000, long))
		for range 50 {
			l.Enter(long)
		}
		l.Add(losses.LeftOut, 2)
		for range 51 {
			l.Leave()
		}
	}
	l.Enter("a")
	l.Add(losses.Changed, 1)
	l.Leave()
	l.Add(losses.Changed, 0)
	list := l.Losses()
	total, bytes := uint64(0), 0
	for _, loss := range list {
		total += loss.Count
		bytes += len(loss.Path) + len(loss.First)
	}
	if total != 2*members+1 || len(list) > 102 || bytes > 100_000 {
		t.Errorf("%d losses in %d lines of %d bytes", total, len(list), bytes)
	}
	want := []losses.Loss{{Path: losses.Others, Reason: losses.Changed, Count: 1, First: "a"}}
	if others := list[len(list)-2:]; !reflect.DeepEqual(others[:1], want) || others[1].Path != losses.Others {
		t.Errorf("the others are %+v", others)
	}
}

func TestNoLedgerCollectsNothing(t *testing.T) {
	t.Parallel()
	var l *losses.Ledger
	l.Enter("a")
	l.EnterData("b")
	l.EnterElement(1)
	l.Add(losses.LeftOut, 1)
	if err := l.Compare(losses.Split, []byte("{"), nil); err != nil || l.Losses() != nil {
		t.Errorf("lost are %v, error %v", l.Losses(), err)
	}
	l.Leave()
}
