package replay

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// matcher compares answers of this run with recorded ones.
type matcher struct {
	names *names
	start time.Time
	// sets compares all arrays without regard to order, because the order of the recorded answer varies.
	sets bool
	// errorSets does that with the ids of an error only.
	errorSets bool
	// openOrder compares the splits of a listing without regard to their order.
	openOrder bool
	// drawnOpstamps compares opstamps of delete tasks by their order only: they come from a sequence that other
	// scenarios draw from, too.
	drawnOpstamps bool
}

// clockSlack is how far the clocks of a test and of its database may be apart.
const clockSlack = 2 * time.Second

// match returns how an answer differs from the one wanted, empty when it does not.
func (m *matcher) match(want, got *answer) string {
	if want.Code != got.Code {
		return fmt.Sprintf("code is %s (%s), want %s", got.Code, got.Message, want.Code)
	}
	if difference := m.matchError(want.Error, got.Error); difference != "" {
		return difference
	}
	if len(want.Responses) != len(got.Responses) {
		return fmt.Sprintf("%d response messages, want %d", len(got.Responses), len(want.Responses))
	}
	for i := range want.Responses {
		if difference := m.matchMessage(fmt.Sprintf("response %d", i+1), want.Responses[i], got.Responses[i]); difference != "" {
			return difference
		}
	}
	return ""
}

// matchError compares kind, entity and ids, and no message.
func (m *matcher) matchError(want, got *value) string {
	if want == nil && got == nil {
		return ""
	}
	if want == nil || got == nil {
		return fmt.Sprintf("error detail is %v, want %v", got, want)
	}
	errors := matcher{names: m.names, start: m.start, sets: m.sets || m.errorSets}
	return errors.matchValue("error detail", withoutMessages(*want), withoutMessages(*got))
}

// withoutMessages drops what is wording: messages and causes, and the texts of kinds that are a message only.
func withoutMessages(detail value) value {
	kept := value{kind: detail.kind}
	for _, kind := range detail.members {
		body := value{kind: '{'}
		for _, m := range kind.value.members {
			if m.key != "message" && m.key != "cause" {
				body.members = append(body.members, m)
			}
		}
		kept.members = append(kept.members, member{kind.key, body})
	}
	return kept
}

// unorderedKeys are the fields whose lists have no order on the wire.
var unorderedKeys = []string{"indexStats", "failures", "sources", "$zstd_json"}

// matchMessage compares protobuf messages: their fields have no order, documents in them do.
func (m *matcher) matchMessage(path string, want, got value) string {
	if document, ok := want.only("$json"); ok && got.kind == '"' && got.text == document.String() {
		return "" // a text that comes back as it was sent, such as a query
	}
	if want.kind == '{' && got.kind == '{' {
		for _, marker := range []string{"$json", "$zstd_json"} {
			if document, ok := want.only(marker); ok {
				shown, ok := got.only(marker)
				if !ok {
					return fmt.Sprintf("%s is %s, want a document", path, got)
				}
				return m.matchKey(path, marker, document, shown, m.matchValue)
			}
		}
		for _, field := range want.members {
			shown, ok := got.get(field.key)
			if !ok {
				return fmt.Sprintf("%s lacks %s, want %s", path, field.key, field.value)
			}
			if difference := m.matchField(path+"."+field.key, field, shown); difference != "" {
				return difference
			}
		}
		for _, field := range got.members {
			if _, ok := want.get(field.key); !ok {
				return fmt.Sprintf("%s has %s %s, which is not wanted", path, field.key, field.value)
			}
		}
		return ""
	}
	if want.kind == '[' && got.kind == '[' {
		return m.matchItems(path, want.items, got.items, m.matchMessage)
	}
	return m.matchValue(path, want, got)
}

func (m *matcher) matchField(path string, want member, got value) string {
	switch want.key {
	case "incarnationId":
		if groups := uidText.FindStringSubmatch(want.value.text); groups != nil {
			uid, err := m.names.find(groups[1], groups[2])
			if err != nil {
				return err.Error()
			}
			want.value = stringValue(incarnationText(uid))
		}
	case "uuid":
		return m.matchUUID(path, want.value.text, got.text)
	case "opstamp", "lastDeleteOpstamp":
		if m.drawnOpstamps {
			return m.matchOpstamp(path, want.value.text, got.text)
		}
	}
	return m.matchKey(path, want.key, want.value, got, m.matchMessage)
}

// matchKey compares the values of a key, whose list may have no order.
func (m *matcher) matchKey(path, key string, want, got value, match func(string, value, value) string) string {
	if want.kind == '[' && got.kind == '[' && (slices.Contains(unorderedKeys, key) || m.openOrder && key == "$json") {
		return matchSets(path, want.items, got.items, match)
	}
	return match(path, want, got)
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// matchUUID wants any UUID the first time, and the same where the recording has the same.
func (m *matcher) matchUUID(path, want, got string) string {
	if bound, again := m.names.uuids[want]; again && bound != got {
		return fmt.Sprintf("%s is %s, was %s before", path, got, bound)
	}
	m.names.uuids[want] = got
	if !uuidForm.MatchString(got) {
		return fmt.Sprintf("%s is %q, want a UUID", path, got)
	}
	return ""
}

// matchOpstamp wants the same opstamp where the recording has the same, and a greater one where it has a greater one.
func (m *matcher) matchOpstamp(path, want, got string) string {
	recorded, err := strconv.ParseUint(want, 10, 64)
	if err != nil {
		return err.Error()
	}
	opstamp, err := strconv.ParseUint(got, 10, 64)
	if err != nil {
		return fmt.Sprintf("%s is %q, want an opstamp", path, got)
	}
	for other, bound := range m.names.opstamps {
		if cmp.Compare(recorded, other) != cmp.Compare(opstamp, bound) {
			return fmt.Sprintf("%s is %d, where %d is recorded, but for the recorded %d it was %d", path, opstamp, recorded, other, bound)
		}
	}
	m.names.opstamps[recorded] = opstamp
	return ""
}

// matchValue compares JSON values, the order of keys included.
func (m *matcher) matchValue(path string, want, got value) string {
	if want.kind == '"' && want.text == "<now>" {
		return m.matchTime(path, got)
	}
	if want.kind != got.kind {
		return fmt.Sprintf("%s is %s, want %s", path, got, want)
	}
	switch want.kind {
	case '"':
		return m.matchText(path, want.text, got.text)
	case '0':
		if want.text != got.text {
			return fmt.Sprintf("%s is %s, want %s", path, got.text, want.text)
		}
	case '[':
		return m.matchItems(path, want.items, got.items, m.matchValue)
	case '{':
		if wantKeys, gotKeys := want.keys(), got.keys(); !slices.Equal(wantKeys, gotKeys) {
			return fmt.Sprintf("%s has the keys %q, want %q", path, gotKeys, wantKeys)
		}
		for i, field := range want.members {
			if difference := m.matchKey(path+"."+field.key, field.key, field.value, got.members[i].value, m.matchValue); difference != "" {
				return difference
			}
		}
	}
	return ""
}

func (v value) keys() []string {
	var keys []string
	for _, m := range v.members {
		keys = append(keys, m.key)
	}
	return keys
}

func (m *matcher) matchItems(path string, want, got []value, match func(string, value, value) string) string {
	if m.sets {
		return matchSets(path, want, got, match)
	}
	if len(want) != len(got) {
		return fmt.Sprintf("%s has %d items %s, want %d %s", path, len(got), value{kind: '[', items: got}, len(want), value{kind: '[', items: want})
	}
	for i := range want {
		if difference := match(fmt.Sprintf("%s[%d]", path, i), want[i], got[i]); difference != "" {
			return difference
		}
	}
	return ""
}

// matchSets pairs every wanted item with another one that is there.
func matchSets(path string, want, got []value, match func(string, value, value) string) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%s has %d items %s, want %d %s", path, len(got), value{kind: '[', items: got}, len(want), value{kind: '[', items: want})
	}
	rest := slices.Clone(got)
	for _, item := range want {
		at := slices.IndexFunc(rest, func(candidate value) bool { return match(path, item, candidate) == "" })
		if at < 0 {
			difference := ""
			if len(rest) == 1 {
				difference = ": " + match(path, item, rest[0])
			}
			return fmt.Sprintf("%s lacks the item %s; left are %s%s", path, item, value{kind: '[', items: rest}, difference)
		}
		rest = slices.Delete(rest, at, at+1)
	}
	return ""
}

func (m *matcher) matchTime(path string, got value) string {
	seconds, err := strconv.ParseInt(got.text, 10, 64)
	at := time.Unix(seconds, 0)
	if err != nil || at.Before(m.start.Add(-clockSlack)) || at.After(time.Now().Add(clockSlack)) {
		return fmt.Sprintf("%s is %s, want a time of this run", path, got)
	}
	return ""
}

func (m *matcher) matchText(path, want, got string) string {
	text, err := m.names.expandText(want)
	if err != nil {
		return err.Error()
	}
	if before, after, found := strings.Cut(text, "<ulid>"); found {
		middle, ok := strings.CutPrefix(got, before)
		if middle, ok2 := strings.CutSuffix(middle, after); ok && ok2 {
			if _, err := ulid.ParseStrict(middle); err == nil {
				return ""
			}
		}
		return fmt.Sprintf("%s is %q, want %q", path, got, text)
	}
	if text != got {
		return fmt.Sprintf("%s is %q, want %q", path, got, text)
	}
	return ""
}
