package containment

// DecideByAllPairs is Decide with a look at each pair of objects.
func DecideByAllPairs(objects []Object, content map[string]*Content, options Options) (*Result, error) {
	return decide(objects, content, options, func(d *decider) candidates { return allPairs{d} })
}

type allPairs struct{ d *decider }

func (a allPairs) held(c int, visit func(p int)) {
	for p := range a.d.objects {
		if a.d.mayHold(c, p) {
			visit(p)
		}
	}
}

func (a allPairs) sources(r int, visit func(p int)) {
	for p := range a.d.objects {
		if a.d.mayRewrite(r, p) {
			visit(p)
		}
	}
}

func (a allPairs) joinSiblings(x int, g groups) {
	options := a.d.options
	for y := range a.d.objects {
		a, b := &a.d.objects[x], &a.d.objects[y]
		if x != y && !(options.NoRewrites && !b.merged()) && !(a.Entry && b.Entry) && a.Schema == b.Schema && samePartition(a, b) && overlap(a, b) {
			g.join(x, y)
		}
	}
}

// overlap says whether the times of a and b may have one in common.
func overlap(a, b *Object) bool {
	return !a.TimeRange.Set || !b.TimeRange.Set ||
		a.TimeRange.Value.Start <= b.TimeRange.Value.End && b.TimeRange.Value.Start <= a.TimeRange.Value.End
}
