package postgres

import (
	"strings"

	"holdfast/metastore"
)

// tags writes a tag filter as SQL. The leaves under one node become at most two conditions on arrays, so that wide
// filters need few parameters.
func (b *listBuilder) tags(filter *metastore.TagFilter) string {
	if filter.Op == metastore.TagLeaf {
		return b.tagLeaves(metastore.TagAnd, []string{filter.Tag}, filter.Present)
	}
	if len(filter.Children) == 0 {
		return "true" // also for TagOr: a filter must not drop what it says nothing about
	}
	var parts, present, absent []string
	for i := range filter.Children {
		switch child := &filter.Children[i]; {
		case child.Op != metastore.TagLeaf:
			parts = append(parts, b.tags(child))
		case child.Present:
			present = append(present, child.Tag)
		default:
			absent = append(absent, child.Tag)
		}
	}
	if len(present) > 0 {
		parts = append(parts, b.tagLeaves(filter.Op, present, true))
	}
	if len(absent) > 0 {
		parts = append(parts, b.tagLeaves(filter.Op, absent, false))
	}
	operator := " AND "
	if filter.Op == metastore.TagOr {
		operator = " OR "
	}
	return "(" + strings.Join(parts, operator) + ")"
}

// tagLeaves tests tags that must all be present (TagAnd) or of which one must be (TagOr), or the same for absent.
func (b *listBuilder) tagLeaves(op metastore.TagFilterOp, tags []string, present bool) string {
	storable := storableTexts(tags)
	if len(storable) < len(tags) {
		// No split has a tag that PostgreSQL cannot hold.
		if (op == metastore.TagAnd) == present {
			// All must be present, and one is not; or one must be absent, and one is.
			return map[bool]string{true: "false", false: "true"}[present]
		}
		if len(storable) == 0 {
			return map[bool]string{true: "false", false: "true"}[present]
		}
	}
	switch {
	case present && op == metastore.TagAnd:
		return "tags @> " + b.texts(storable)
	case present:
		return "tags && " + b.texts(storable)
	case op == metastore.TagAnd:
		return "NOT tags && " + b.texts(storable)
	default:
		return "NOT tags @> " + b.texts(storable)
	}
}
