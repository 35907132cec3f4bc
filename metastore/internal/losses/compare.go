package losses

import (
	"slices"
	"sort"
)

// Shape says what may become of a value when it is written again, without a loss. The zero value, and nil, allow only what
// means the same in every JSON document: another order of members, white space, other escapes.
type Shape struct {
	// Members are the members that have a shape of their own, by name.
	Members map[string]*Shape
	// Each is the shape of the elements of a list, and of the members that are not in Members.
	Each *Shape
	// Data says that the names of members that are not in Members are data.
	Data bool
	// Key is the member that tells the elements of a list apart, whose order is then free and of which the last with the same
	// key counts.
	Key string
	// Set says that a list is a set of scalars: order and repetitions mean nothing.
	Set bool
	// Name is the name under which the member is written, if it is another one.
	Name string
	// Meaningless says that the member may be left out or written with any value.
	Meaningless bool
	// Omitted, if not nil, says for which values the member may be left out.
	Omitted func(*value) bool
	// Rewritten, if not nil, says which value may be written for which.
	Rewritten func(before, after *value) bool
	// Of, if not nil, returns the shape that an object has by its version. One that is written as it was has none.
	Of func(*value) *Shape
}

var plain = &Shape{}

func (s *Shape) member(name string) (shape *Shape, data bool) {
	if shape = s.Members[name]; shape != nil {
		return shape, false
	}
	if s.Each != nil {
		return s.Each, s.Data
	}
	return plain, s.Data
}

func (s *Shape) element() *Shape {
	if s.Each != nil {
		return s.Each
	}
	return plain
}

func (l *Ledger) compare(shape *Shape, before, after *value) {
	if shape == nil {
		shape = plain
	}
	if shape.Of != nil {
		if same(before, after) {
			return
		}
		shape = shape.Of(before)
	}
	switch {
	case shape.Rewritten != nil && shape.Rewritten(before, after):
	case before.kind != after.kind:
		l.Add(Changed, 1)
	case before.isObject():
		l.compareMembers(shape, before, after)
	case !before.isArray():
		if !sameScalar(before, after) {
			l.Add(Changed, 1)
		}
	case shape.Set:
		l.compareSets(shape, before, after)
	case shape.Key != "":
		l.compareKeyed(shape, before, after)
	case len(before.list) != len(after.list):
		l.Add(Changed, 1)
	default:
		for i := range before.list {
			l.EnterElement(i)
			l.compare(shape.element(), &before.list[i], &after.list[i])
			l.Leave()
		}
	}
}

// compareMembers pairs members of the same name, the last ones first, because the last of a repeated member counts.
func (l *Ledger) compareMembers(shape *Shape, before, after *value) {
	given, written := newNames(before.names), newNames(after.names)
	for i, name := range before.names {
		member, data := shape.member(name)
		if member.Meaningless {
			continue
		}
		target := name
		if member.Name != "" {
			target = member.Name
		}
		l.enter(segment{name: name, position: -1, data: data})
		fromEnd := given.countAfter(name, i)
		switch at := written.last(target, fromEnd); {
		case at >= 0:
			l.compare(member, &before.list[i], &after.list[at])
		case fromEnd > 0 && written.last(target, 0) >= 0:
			l.Add(Repeated, 1)
		case member.Omitted == nil || !member.Omitted(&before.list[i]):
			l.Add(LeftOut, 1)
		}
		l.Leave()
	}
}

// names are those of the members of an object.
type names struct {
	list []string
	// at is where each name is, for objects with so many members that looking at all of them takes long.
	at map[string][]int
}

func newNames(list []string) names {
	const many = 64
	n := names{list: list}
	if len(list) <= many {
		return n
	}
	n.at = make(map[string][]int, len(list))
	for i, name := range list {
		n.at[name] = append(n.at[name], i)
	}
	return n
}

// countAfter returns how often a name comes again behind a position.
func (n *names) countAfter(name string, position int) (count int) {
	if n.at != nil {
		places := n.at[name]
		return len(places) - 1 - sort.SearchInts(places, position)
	}
	for _, other := range n.list[position+1:] {
		if other == name {
			count++
		}
	}
	return count
}

// last returns the position of a name, counted among those of the same name from 0 for the last one. It is -1 if
// there are not so many.
func (n *names) last(name string, fromEnd int) int {
	if n.at != nil {
		if places := n.at[name]; fromEnd < len(places) {
			return places[len(places)-1-fromEnd]
		}
		return -1
	}
	for i := len(n.list) - 1; i >= 0; i-- {
		if n.list[i] == name {
			if fromEnd == 0 {
				return i
			}
			fromEnd--
		}
	}
	return -1
}

// compareKeyed pairs elements of the same key.
func (l *Ledger) compareKeyed(shape *Shape, before, after *value) {
	key := func(element *value) string {
		if member := element.member(shape.Key); member != nil {
			return member.text
		}
		return ""
	}
	again := map[string]int{}
	for i := range before.list {
		again[key(&before.list[i])]++
	}
	written := map[string]*value{}
	for i := range after.list {
		written[key(&after.list[i])] = &after.list[i]
	}
	for i := range before.list {
		id := key(&before.list[i])
		again[id]--
		l.EnterElement(i)
		switch match := written[id]; {
		case match == nil:
			l.Add(LeftOut, 1)
		case again[id] > 0:
			l.Add(Repeated, 1)
		default:
			l.compare(shape.element(), &before.list[i], match)
		}
		l.Leave()
	}
}

// compareSets looks for each element among those that are written.
func (l *Ledger) compareSets(shape *Shape, before, after *value) {
	exact := make(map[string]bool, len(after.list))
	for i := range after.list {
		exact[after.list[i].text] = true
	}
	rewritten := shape.element().Rewritten
	for i := range before.list {
		element := &before.list[i]
		found := exact[element.text] || rewritten != nil && slices.ContainsFunc(after.list, func(written value) bool { return rewritten(element, &written) })
		if !found {
			l.EnterElement(i)
			l.Add(LeftOut, 1)
			l.Leave()
		}
	}
}
