package replay

import (
	"fmt"
	"strconv"
	"strings"
)

// want makes the answer that we give, from what was recorded.
type want func(step *step, backend Backend) (*answer, error)

// as wants what the peer answers on a store, in place of what it answers on the other. The create
// timestamps of splits follow the rule of the own store all the same.
func as(other Backend) want {
	return func(step *step, own Backend) (*answer, error) {
		borrowed := *step.on(other)
		if other == own {
			return &borrowed, nil
		}
		createTimes := splitCreateTimes(step.on(own))
		borrowed.Responses = nil
		for _, response := range step.on(other).Responses {
			// The list of Parquet splits has no create timestamps.
			if document, ok := response.get("splitsSerializedJson"); ok && document.kind == '{' {
				splits, _ := document.only("$json")
				document.members = []member{{"$json", splits.withCreateTimes(own, createTimes)}}
				response = value{kind: '{', members: []member{{"splitsSerializedJson", document}}}
			}
			borrowed.Responses = append(borrowed.Responses, response)
		}
		return &borrowed, nil
	}
}

// splitCreateTimes returns the create timestamps in a listing, by split id.
func splitCreateTimes(a *answer) map[string]value {
	times := map[string]value{}
	for _, response := range a.Responses {
		document, _ := response.get("splitsSerializedJson")
		splits, _ := document.only("$json")
		for _, split := range splits.items {
			id, _ := split.get("split_id")
			times[id.text], _ = split.get("create_timestamp")
		}
	}
	return times
}

// usualCreateTime is the create timestamp of most recorded split documents.
const usualCreateTime = "1600000000"

func (v value) withCreateTimes(own Backend, known map[string]value) value {
	changed := value{kind: v.kind}
	for _, split := range v.items {
		id, _ := split.get("split_id")
		at, ok := known[id.text]
		if !ok && own == Postgres {
			at = stringValue("<now>")
		} else if !ok {
			at = value{kind: '0', text: usualCreateTime}
		}
		patched, err := split.with([]string{"create_timestamp"}, &at)
		if err != nil {
			patched = split // no create timestamp to change
		}
		changed.items = append(changed.items, patched)
	}
	return changed
}

// refused wants an error of a kind that has no entity.
func refused(kind string) want {
	return func(*step, Backend) (*answer, error) { return refusal(kind), nil }
}

// failed wants a code and an error detail, given as JSON.
func failed(code, detail string) want {
	return func(*step, Backend) (*answer, error) {
		parsed, err := parseValue([]byte(detail))
		return &answer{Code: code, Error: &parsed}, err
	}
}

// answered wants success with these response messages, given as a JSON array in the form of the recordings.
func answered(responses string) want {
	return func(*step, Backend) (*answer, error) {
		parsed, err := parseValue([]byte(responses))
		return &answer{Code: "OK", Responses: parsed.items}, err
	}
}

// edited wants another answer with values replaced. Changes alternate between a path in the responses, of
// keys and item numbers joined by "/", and the value as JSON; an empty value removes what is there, and a new key is
// added behind the others.
func edited(base want, changes ...string) want {
	return func(step *step, backend Backend) (*answer, error) {
		recorded, err := base(step, backend)
		if err != nil {
			return nil, err
		}
		responses := value{kind: '[', items: recorded.Responses}
		for i := 0; i+1 < len(changes); i += 2 {
			var replacement *value
			if changes[i+1] != "" {
				parsed, err := parseValue([]byte(changes[i+1]))
				if err != nil {
					return nil, err
				}
				replacement = &parsed
			}
			if responses, err = responses.with(strings.Split(changes[i], "/"), replacement); err != nil {
				return nil, fmt.Errorf("change %s: %w", changes[i], err)
			}
		}
		changed := *recorded
		changed.Responses = responses.items
		return &changed, nil
	}
}

// with returns a copy of the value in which the value at a path is another one, or is gone.
func (v value) with(path []string, replacement *value) (value, error) {
	changed := v
	changed.items = append([]value(nil), v.items...)
	changed.members = append([]member(nil), v.members...)
	at := -1
	if v.kind == '[' {
		if n, err := strconv.Atoi(path[0]); err == nil && n < len(v.items) {
			at = n
		}
	}
	for i, m := range v.members {
		if m.key == path[0] {
			at = i
		}
	}
	if at < 0 && v.kind == '{' && len(path) == 1 && replacement != nil {
		changed.members = append(changed.members, member{path[0], *replacement})
		return changed, nil
	}
	if at < 0 {
		return value{}, fmt.Errorf("there is no %q", path[0])
	}
	if len(path) == 1 && replacement == nil {
		if v.kind == '[' {
			changed.items = append(changed.items[:at], changed.items[at+1:]...)
		} else {
			changed.members = append(changed.members[:at], changed.members[at+1:]...)
		}
		return changed, nil
	}
	next := replacement
	if len(path) > 1 {
		inner := v.members
		var below value
		if v.kind == '[' {
			below = v.items[at]
		} else {
			below = inner[at].value
		}
		below, err := below.with(path[1:], replacement)
		if err != nil {
			return value{}, err
		}
		next = &below
	}
	if v.kind == '[' {
		changed.items[at] = *next
	} else {
		changed.members[at].value = *next
	}
	return changed, nil
}

// refusal is an error of a kind that has no entity, with the code that belongs to it.
func refusal(kind string) *answer {
	codes := map[string]string{"InvalidArgument": "InvalidArgument", "JsonDeserializeError": "Internal", "Internal": "Internal"}
	detail := value{kind: '{', members: []member{{kind, value{kind: '{'}}}}
	return &answer{Code: codes[kind], Error: &detail}
}
