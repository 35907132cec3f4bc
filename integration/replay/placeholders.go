package replay

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"holdfast/metastore"
)

// names are the values of placeholders: what was drawn in this run.
type names struct {
	uid, old map[string]metastore.IndexUID // by index id
	uuids    map[string]string             // what a recorded UUID is in this run
	opstamps map[uint64]uint64             // what a recorded opstamp is in this run
}

func newNames() *names {
	return &names{uid: map[string]metastore.IndexUID{}, old: map[string]metastore.IndexUID{}, uuids: map[string]string{}, opstamps: map[uint64]uint64{}}
}

// created takes note of the UID that CreateIndex answered.
func (n *names) created(uid metastore.IndexUID) {
	if before, again := n.uid[uid.IndexID]; again {
		n.old[uid.IndexID] = before
	}
	n.uid[uid.IndexID] = uid
}

func (n *names) find(kind, indexID string) (metastore.IndexUID, error) {
	table := n.uid
	if kind == "old" {
		table = n.old
	}
	uid, found := table[indexID]
	if !found {
		return uid, fmt.Errorf("no index %q was created, for the placeholder %s:%s", indexID, kind, indexID)
	}
	return uid, nil
}

var (
	uidText    = regexp.MustCompile(`\$\{(uid|old):([^}]*)\}`)
	uidMessage = regexp.MustCompile(`^\$(uid|old):(.*)$`)
)

// expandText replaces ${uid:NAME} and ${old:NAME}.
func (n *names) expandText(text string) (string, error) {
	var failure error
	expanded := uidText.ReplaceAllStringFunc(text, func(match string) string {
		groups := uidText.FindStringSubmatch(match)
		uid, err := n.find(groups[1], groups[2])
		if err != nil {
			failure = err
		}
		return uid.String()
	})
	return expanded, failure
}

// expand returns a request with its placeholders replaced.
func (n *names) expand(v value) (value, error) {
	switch v.kind {
	case '"':
		if groups := uidMessage.FindStringSubmatch(v.text); groups != nil {
			uid, err := n.find(groups[1], groups[2])
			return uidValue(uid), err
		}
		text, err := n.expandText(v.text)
		return stringValue(text), err
	case '[':
		expanded := value{kind: '['}
		for _, item := range repeated(v.items) {
			item, err := n.expand(item)
			if err != nil {
				return value{}, err
			}
			expanded.items = append(expanded.items, item)
		}
		return expanded, nil
	case '{':
		if raw, ok := v.only("$raw"); ok {
			text, err := n.expandText(raw.text)
			return stringValue(text), err
		}
		expanded := value{kind: '{'}
		for _, m := range v.members {
			item, err := n.expand(m.value)
			if err != nil {
				return value{}, err
			}
			expanded.members = append(expanded.members, member{m.key, item})
		}
		if document, ok := expanded.only("$json"); ok {
			return stringValue(document.String()), nil
		}
		return expanded, nil
	}
	return v, nil
}

// repeated replaces the items {"$repeat": N, "from": K, "item": X} by N copies.
func repeated(items []value) []value {
	var all []value
	for _, item := range items {
		count, ok := item.get("$repeat")
		if !ok {
			all = append(all, item)
			continue
		}
		copies, _ := strconv.Atoi(count.text)
		first, _ := item.get("from")
		from, _ := strconv.Atoi(first.text) // absent: from 0
		pattern, _ := item.get("item")
		for i := from; i < from+copies; i++ {
			all = append(all, pattern.replaceAll(strings.NewReplacer("${i}", strconv.Itoa(i), "${i3}", fmt.Sprintf("%03d", i))))
		}
	}
	return all
}

// replaceAll replaces in every string of the value.
func (v value) replaceAll(replacer *strings.Replacer) value {
	replaced := value{kind: v.kind, text: replacer.Replace(v.text)}
	for _, item := range v.items {
		replaced.items = append(replaced.items, item.replaceAll(replacer))
	}
	for _, m := range v.members {
		replaced.members = append(replaced.members, member{m.key, m.value.replaceAll(replacer)})
	}
	return replaced
}

// uidValue is the IndexUid message in protojson.
func uidValue(uid metastore.IndexUID) value {
	return value{kind: '{', members: []member{
		{"indexId", stringValue(uid.IndexID)},
		{"incarnationId", stringValue(incarnationText(uid))},
	}}
}

// incarnationText is the incarnation as protojson shows its bytes.
func incarnationText(uid metastore.IndexUID) string {
	return base64.StdEncoding.EncodeToString(uid.Incarnation[:])
}
