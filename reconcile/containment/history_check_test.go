package containment_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"holdfast/reconcile/containment"
)

// historyCheck compares what was decided with the truth of a history. Documents must count as often as in the
// published splits, or a flag must say of the splits concerned why they may not. Nothing is excused but what
// no file shows:
//
//	copies of a document that the files do not tell apart (see shown)
//	what deletions removed, if no file connects what has it with what has not (see showsDeletion)
type historyCheck struct {
	*history
	*containment.Result
	live    map[string]int      // documents in live splits
	holders map[string][]string // live splits of a document
	left    map[string]bool     // documents of splits that are left to a person
}

// failure returns what is wrong with the decisions, empty if nothing is.
func (h *history) failure(r *containment.Result) string {
	c := &historyCheck{h, r, map[string]int{}, map[string][]string{}, map[string]bool{}}
	for _, v := range r.Verdicts {
		for doc, n := range h.documentsOf(v.ID) {
			switch v.Kind {
			case containment.Live:
				c.live[doc] += n
				c.holders[doc] = append(c.holders[doc], v.ID)
			case containment.Likely, containment.Unread:
				c.left[doc] = true
			}
		}
	}
	truth := map[string]int{}
	for _, id := range h.published {
		for doc, n := range h.documentsOf(id) {
			truth[doc] += n
		}
	}
	for _, doc := range slices.Sorted(maps.Keys(truth)) {
		if n := c.live[doc]; n == 0 && !c.left[doc] || n < truth[doc] && n < c.shown(doc) && !c.left[doc] {
			return fmt.Sprintf("%s is live %d times of %d", doc[7:], n, truth[doc])
		}
	}
	for _, doc := range slices.Sorted(maps.Keys(c.live)) {
		if c.live[doc] > truth[doc] && !c.excess(doc) {
			return fmt.Sprintf("%s is live %d times of %d, in %v", doc[7:], c.live[doc], truth[doc], c.holders[doc])
		}
	}
	return ""
}

// documentsOf counts the documents of a split.
func (h *history) documentsOf(id string) map[string]int {
	count := map[string]int{}
	for _, doc := range h.splits[id].Docs() {
		count[string(doc.Raw)]++
	}
	return count
}

// shown is how many copies of a document the files tell apart: those in one file, and beside it those of
// indexers' files that were made after it; or those of all indexers' files.
func (c *historyCheck) shown(doc string) int {
	most, indexed := 0, 0
	for id := range c.objects {
		n := c.documentsOf(id)[doc]
		if n == 0 {
			continue
		}
		for other := range c.objects {
			if other[0] != 'L' {
				continue
			}
			if other == id {
				indexed += n
			} else if c.certainlyAfter(other, id) {
				n += c.documentsOf(other)[doc]
			}
		}
		most = max(most, n)
	}
	return max(most, indexed)
}

func (c *historyCheck) certainlyAfter(a, b string) bool {
	return c.objects[a].Made.Value > c.objects[b].Made.Value+c.options.Skew.Milliseconds()
}

// excess says whether a document that is live more often than in truth is flagged, or nothing shows it.
func (c *historyCheck) excess(doc string) bool {
	for _, f := range c.Flags {
		names := func(is func(id string) bool) bool { return slices.ContainsFunc(f.Splits, is) }
		if !names(func(id string) bool { return slices.Contains(c.holders[doc], id) }) {
			continue
		}
		switch {
		case f.Kind == containment.OldCover:
		case f.Kind == containment.Overlap, f.Kind == containment.Repeat:
			return true
		case c.removed[doc] && names(func(id string) bool { return len(c.without[id]) > 0 }):
			return true
		}
	}
	return c.removed[doc] && !c.showsDeletion(doc)
}

// showsDeletion says whether files connect the live splits of a document with one from which deletions
// removed it: each shares documents with the next, and was published once. One that was made after no deletion, as far as it says
// itself, and is in one of the live splits in one piece looks like a parent of that.
func (c *historyCheck) showsDeletion(doc string) bool {
	queue, reached, docs := slices.Clone(c.holders[doc]), map[string]bool{}, map[string]bool{}
	for _, id := range queue {
		reached[id] = true
	}
	for ; len(queue) > 0; queue = queue[1:] {
		x := queue[0]
		if c.without[x][doc] && !slices.ContainsFunc(c.holders[doc], func(id string) bool { return c.looksLikeParent(x, id) }) {
			return true
		}
		for d := range c.documentsOf(x) {
			docs[d] = true
		}
		for id := range c.objects {
			for d := range c.documentsOf(id) {
				if docs[d] && !reached[id] && (slices.Contains(c.published, id) || slices.Contains(c.replaced, id)) {
					reached[id] = true
					queue = append(queue, id)
				}
			}
		}
	}
	return false
}

func (c *historyCheck) looksLikeParent(x, of string) bool {
	text := func(id string) string {
		var text strings.Builder
		for _, doc := range c.splits[id].Docs() {
			fmt.Fprintf(&text, "%s ", doc.Raw)
		}
		return text.String()
	}
	return c.objects[x].Opstamp == 0 && !c.certainlyAfter(x, of) && strings.Contains(text(of), text(x))
}
