package containment

import "slices"

// stackFrom is how many blocks a split must have for a merge to copy them as they are.
const stackFrom = 6

// mayHold says whether c may hold p. What it rules out is impossible where merges made c of p; only a
// clock further off than the skew loses a link, which then shows as documents twice and never as a loss.
func (d *decider) mayHold(c, p int) bool {
	child, parent := &d.objects[c], &d.objects[p]
	return c != p && child.merged() && parent.NumDocs < child.NumDocs && parent.NumDocs > 0 &&
		!(child.Entry && parent.Entry) && child.Schema == parent.Schema && d.clock.before(parent, child) &&
		samePartition(child, parent) && within(parent, child) && tagsWithin(parent, child)
}

func samePartition(a, b *Object) bool {
	return !a.Partition.Set || !b.Partition.Set || a.Partition.Value == b.Partition.Value
}

// within says whether the times of a may all lie within those of b.
func within(a, b *Object) bool {
	return !a.TimeRange.Set || !b.TimeRange.Set ||
		b.TimeRange.Value.Start <= a.TimeRange.Value.Start && a.TimeRange.Value.End <= b.TimeRange.Value.End
}

// tagsWithin says whether b may have all tags of a: of a field whose values b lists completely it must.
func tagsWithin(a, b *Object) bool {
	for _, tag := range a.Tags {
		if _, found := slices.BinarySearch(b.Tags, tag); !found && listsValues(a, b, tag) {
			return false
		}
	}
	return true
}

// listsValues says whether b lists the values of the field of a tag of a completely. Names and values
// may hold colons, so each field of a that the tag begins with may be meant.
func listsValues(a, b *Object, tag string) bool {
	lists := false
	for i, r := range tag {
		if r != ':' {
			continue
		}
		field := tag[:i] + "!"
		if _, found := slices.BinarySearch(a.Tags, field); !found {
			continue
		}
		if _, lists = slices.BinarySearch(b.Tags, field); !lists {
			return false
		}
	}
	return lists
}

// mayRewrite says whether r may be a rewrite of p, or of something that p holds or shares documents with.
func (d *decider) mayRewrite(r, p int) bool {
	child, parent := &d.objects[r], &d.objects[p]
	return r != p && child.merged() && child.Opstamp > parent.Opstamp && parent.NumDocs >= child.NumDocs && child.NumDocs > 0 &&
		!(child.Entry && parent.Entry) && child.Schema == parent.Schema && d.clock.before(parent, child) &&
		samePartition(child, parent) && within(child, parent) && tagsWithin(child, parent)
}
