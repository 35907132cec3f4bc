package lineage

// disjointSets joins nodes into groups. A group is named by one of its nodes, which depends only on
// the numbers of its nodes: the smallest.
type disjointSets []int32

func newDisjointSets(n int) disjointSets {
	s := make(disjointSets, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

func (s disjointSets) find(x node) node {
	for s[x] != x {
		s[x] = s[s[x]]
		x = s[x]
	}
	return x
}

func (s disjointSets) join(a, b node) {
	a, b = s.find(a), s.find(b)
	if a < b {
		s[b] = a
	} else {
		s[a] = b
	}
}
