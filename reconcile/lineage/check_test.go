package lineage

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"holdfast/metastore"
)

// check compares what a plan leads to with the truth of a model.
//
// The proof of the procedure needs three assumptions about what was there at the loss:
//
//	A1  no hidden link: of every split that was published once and is gone (or cannot be read), no
//	    parent and no unpublished sibling is left
//	A2  no split without parents that never was published
//	A3  no split that was marked without a replacement
//
// A flag excuses a fault only if it marks a split concerned and the assumption behind it is broken:
//
//	a document twice    a doubt about contents names one of the two, or one is a file that cannot be read
//	                    where lists are missing; hidden-link on one of the two, or its row reported as stale, A1 broken; or
//	                    young-l0 on one of the two that never was published (A2)
//	a document lost     a split that holds it is left to a person: unreadable, legacy-undecided,
//	                    staged-by-someone, or an orphan with possible-loss (A1 or A3 broken); or
//	                    a delete task had named it, and a rewrite that was not published is taken
//	a document back     in a split whose last replacement was marked without another (A3), or is
//	                    left to a person, like the row, if it is stale; in a young-l0 one that never was published (A2); in a merge
//	                    that was not published, of a parent marked without replacement; hidden-link, A1
//	                    broken; or delete tasks named it, and A1 is broken (they may have emptied what would
//	                    overlap) or a file cannot be read (its merge is preferred to a rewrite)
//
// Nothing excuses an inconsistent decision: the model contradicts itself nowhere.
type check struct {
	h         *history
	m         *model
	objects   []Object
	rows      []Row
	options   Options
	plan      *Plan
	contents  *comparison // nil if none were compared
	byID      map[string]*modelSplit
	decisions map[string]*Decision
}

func newCheck(h *history, m *model, objects []Object, rows []Row, options Options, plan *Plan, contents *comparison) *check {
	c := &check{h, m, objects, rows, options, plan, contents, map[string]*modelSplit{}, map[string]*Decision{}}
	for _, x := range m.splits {
		c.byID[x.object.ID] = x
	}
	for i := range plan.Decisions {
		c.decisions[plan.Decisions[i].ID] = &plan.Decisions[i]
	}
	return c
}

func (c *check) failure() string {
	states, failure := apply(c.rows, c.plan, func(int) bool { return true })
	if failure != "" {
		return failure
	}
	var final []*modelSplit
	for _, x := range c.m.splits {
		if x.present && states[x.object.ID] == metastore.Published {
			final = append(final, x)
		}
	}
	for _, verify := range []func([]*modelSplit) string{
		c.noneInconsistent, c.nothingTwice, c.nothingLost, c.nothingBack, c.noNeedlessAlarm, c.everyPublishedRowExplained, c.kindsFit,
		c.intactRowsAreLeftAlone,
	} {
		if failure := verify(final); failure != "" {
			return failure
		}
	}
	if c.h.chance%8 == 0 {
		if failure := c.sameInAnyOrder(); failure != "" {
			return failure
		}
	}
	return c.sameAfterACrash(states)
}

// apply publishes what the plan says, for the publications that done names, and returns the states of
// the rows then.
func apply(rows []Row, plan *Plan, done func(i int) bool) (map[string]metastore.SplitState, string) {
	states := map[string]metastore.SplitState{}
	for _, row := range rows {
		states[row.ID] = row.State
	}
	for i := range plan.Decisions {
		d := &plan.Decisions[i]
		if d.Kind != Publish {
			if d.ForceMature || d.AlreadyStaged || d.ReplacedSplitIDs != nil {
				return nil, fmt.Sprintf("%s is not published and has instructions for it", d.ID)
			}
			continue
		}
		if before := states[d.ID]; before != 0 && !(before == metastore.Staged && d.AlreadyStaged) {
			return nil, fmt.Sprintf("%s is published over a row that is %s", d.ID, before)
		}
		if !done(i) {
			continue
		}
		states[d.ID] = metastore.Published
		for _, id := range d.ReplacedSplitIDs {
			if states[id] != metastore.Published {
				return nil, fmt.Sprintf("%s replaces %s, whose row is not Published", d.ID, id)
			}
			states[id] = metastore.MarkedForDeletion
		}
	}
	return states, ""
}

func (c *check) noneInconsistent([]*modelSplit) string {
	for _, d := range c.plan.Decisions {
		if d.Kind == Inconsistent {
			return fmt.Sprintf("%s is inconsistent", d.ID)
		}
	}
	return ""
}

// kindsFit: what a file is, and what its row is, allow only some decisions.
func (c *check) kindsFit([]*modelSplit) string {
	for i := range c.plan.Decisions {
		d, x := &c.plan.Decisions[i], c.byID[c.plan.Decisions[i].ID]
		unreadable, legacy := uint8(x.n) == c.h.unreadable, x.object.Content == Legacy
		fits := d.Kind != Wait && d.Kind != Withheld && d.Kind != ForeignIncarnation &&
			(d.Kind == UnreadableObject) == unreadable && (d.Kind != LegacyUndecided || legacy) &&
			(d.Kind != Orphan || !legacy || d.Reason == ReasonContentPiecemeal) && (unreadable || (d.Kind == Marked) == (d.Row == metastore.MarkedForDeletion)) &&
			(d.Kind != AlreadyPublished || d.Row == metastore.Published) && (d.Kind != StagedBySomeone || d.Row == metastore.Staged)
		if !fits {
			return fmt.Sprintf("%s with a row %s is decided %s", d.ID, d.Row, d.Kind)
		}
	}
	return ""
}

// intactRowsAreLeftAlone: in live mode, with all true rows, nothing is published.
func (c *check) intactRowsAreLeftAlone([]*modelSplit) string {
	if c.h.chance%4 != 0 {
		return ""
	}
	var rows []Row
	for _, r := range c.m.rows() {
		rows = append(rows, r.row)
	}
	objects := slices.Clone(c.objects)
	for i := range objects {
		objects[i].RowlessTwice = true
	}
	options := c.options
	options.Live = true
	plan, err := Decide(objects, rows, options)
	if err != nil {
		return err.Error()
	}
	for _, d := range plan.Decisions {
		x := c.byID[d.ID]
		switch {
		case d.Kind == Publish, d.Kind == Inconsistent:
			return fmt.Sprintf("in live mode %s is %s", d.ID, d.Kind)
		case d.Kind == Superseded && d.Reason == ReasonReplaced && x.replacedBy == nil:
			return fmt.Sprintf("in live mode %s is superseded and never was", d.ID)
		case d.Kind == Orphan && d.Reason != ReasonSiblingChosen && x.publishedOnce:
			return fmt.Sprintf("in live mode %s is an orphan and was published", d.ID)
		}
	}
	return ""
}

func (c *check) flagged(x *modelSplit, flag Flags) bool {
	return c.decisions[x.object.ID].Flags&flag != 0
}

// stale: its Published row is reported as stale.
func (c *check) stale(x *modelSplit) bool {
	return slices.ContainsFunc(c.plan.Rows, func(r RowDecision) bool {
		return r.ID == x.object.ID && r.Kind == RowStale
	})
}

// unread is a split without parents that never was published, and said to be one that may not have been.
func (c *check) unread(x *modelSplit) bool {
	return !x.publishedOnce && len(x.parents) == 0 && c.flagged(x, FlagYoungL0)
}

func (c *check) nothingTwice(final []*modelSplit) string {
	for i, x := range final {
		for _, y := range final[:i] {
			hidden := c.flagged(x, FlagHiddenLink) || c.flagged(y, FlagHiddenLink) || c.stale(x) || c.stale(y)
			// What cannot be read cannot be compared, and is reported as such.
			if c.contents != nil && (uint8(x.n) == c.h.unreadable || uint8(y.n) == c.h.unreadable) {
				continue
			}
			if c.contents.reported(x.object.ID) || c.contents.reported(y.object.ID) {
				continue
			}
			if x.docs&y.docs == 0 || hidden && c.hiddenLinks() || c.unread(x) || c.unread(y) {
				continue
			}
			return fmt.Sprintf("documents %s are in %s and in %s", x.docs&y.docs, x.object.ID, y.object.ID)
		}
	}
	return ""
}

// hiddenLinks says whether A1 is broken.
func (c *check) hiddenLinks() bool {
	for _, gone := range c.m.splits {
		if !gone.publishedOnce || c.readable(gone) {
			continue
		}
		for _, p := range gone.parents {
			if p.present {
				return true
			}
			for _, sibling := range c.m.splits {
				if sibling.present && !sibling.publishedOnce && slices.Contains(sibling.parents, p) {
					return true
				}
			}
		}
	}
	return false
}

func (c *check) readable(x *modelSplit) bool {
	return x.present && x.object.Content == WithEntry && uint8(x.n) != c.h.unreadable
}

func (c *check) nothingLost(final []*modelSplit) string {
	var found docs
	rewrite := false
	for _, x := range final {
		found |= x.docs
	}
	for _, x := range c.m.splits {
		if d := c.decisions[x.object.ID]; d != nil && len(x.parents) == 1 && !x.publishedOnce {
			rewrite = rewrite || d.Kind == Publish || d.Kind == StagedBySomeone
		}
	}
	for _, y := range c.m.splits {
		if y.state != metastore.Published {
			continue
		}
		lost := y.docs &^ found
		for _, x := range c.m.splits {
			if d := c.decisions[x.object.ID]; d != nil && c.leftToPerson(d) {
				lost &^= x.docs
			}
		}
		if rewrite {
			lost &^= c.m.deleted
		}
		if lost != 0 {
			return fmt.Sprintf("documents %s of %s are lost", lost, y.object.ID)
		}
	}
	return ""
}

func (c *check) leftToPerson(d *Decision) bool {
	switch d.Kind {
	case UnreadableObject, LegacyUndecided, StagedBySomeone:
		return true
	case Orphan:
		return d.Flags&FlagPossibleLoss != 0
	default:
		return false
	}
}

func (c *check) nothingBack(final []*modelSplit) string {
	var truth docs
	for _, y := range c.m.splits {
		if y.state == metastore.Published {
			truth |= y.docs
		}
	}
	for _, x := range final {
		back := x.docs &^ truth
		d := c.decisions[x.object.ID]
		by := x.replacedBy
		undecidable := by != nil && by.present && by.object.Content == Legacy && uint8(by.n) != c.h.unreadable
		if d.Reason == ReasonLegacyOld && undecidable && !c.flagged(x, FlagHiddenLink) {
			return fmt.Sprintf("%s was replaced by a legacy split and is published for its age", x.object.ID)
		}
		last, undecided := x, false
		for last.replacedBy != nil {
			last = last.replacedBy
			d := c.decisions[last.object.ID]
			undecided = undecided || d != nil && c.leftToPerson(d)
		}
		marked := last.publishedOnce && last.state != metastore.Published
		undecided = undecided || c.stale(x)
		undeleted := (c.hiddenLinks() || c.h.unreadable != 255) && back&^c.m.deleted == 0
		merge := !x.publishedOnce && len(x.parents) > 0 && c.m.retired
		hidden := c.flagged(x, FlagHiddenLink) && c.hiddenLinks()
		if back != 0 && !undecided && !undeleted && !marked && !merge && !hidden && !c.unread(x) {
			return fmt.Sprintf("documents %s of %s are back", back, x.object.ID)
		}
	}
	return ""
}

// noNeedlessAlarm: without a hidden link and without splits that were marked, the lists tell all.
func (c *check) noNeedlessAlarm([]*modelSplit) string {
	if c.m.retired || c.hiddenLinks() || c.h.unreadable != 255 {
		return ""
	}
	for _, d := range c.plan.Decisions {
		if d.Flags&(FlagAmbiguous|FlagPossibleLoss) != 0 {
			return fmt.Sprintf("%s is flagged %v without need", d.ID, d.Flags.Names())
		}
	}
	return ""
}

// everyPublishedRowExplained: a Published row without a file is either replaced or reported.
func (c *check) everyPublishedRowExplained([]*modelSplit) string {
	for _, row := range c.rows {
		known := slices.ContainsFunc(c.plan.Rows, func(r RowDecision) bool { return r.ID == row.ID })
		if row.State == metastore.Published && !c.byID[row.ID].present && !known {
			return fmt.Sprintf("the row of %s is Published without a file, and nothing says so", row.ID)
		}
	}
	return ""
}

// sameAfterACrash: a recovery that stops anywhere and starts anew ends the same.
func (c *check) sameAfterACrash(final map[string]metastore.SplitState) string {
	rng := rand.New(rand.NewPCG(uint64(c.h.chance), 9))
	done := make([]bool, len(c.plan.Decisions))
	for i := range done {
		done[i] = rng.IntN(2) == 0
	}
	states, failure := apply(c.rows, c.plan, func(i int) bool { return done[i] })
	if failure != "" {
		return failure
	}
	before := map[string]Row{}
	for _, row := range c.rows {
		before[row.ID] = row
	}
	var rows []Row
	for i := range c.plan.Decisions {
		// The publication that was under way may have staged its row.
		if d := &c.plan.Decisions[i]; d.Kind == Publish && !done[i] && !d.AlreadyStaged && rng.IntN(3) == 0 {
			rows = append(rows, Row{ID: d.ID, State: metastore.Staged, EqualsObject: true, Ours: true})
		}
	}
	for id, state := range states {
		row := before[id]
		row.ID, row.State, row.PublishTimestampSet = id, state, row.PublishTimestampSet || state == metastore.Published
		rows = append(rows, row)
	}
	again, err := Decide(c.objects, rows, c.options)
	if err != nil {
		return err.Error()
	}
	states, failure = apply(rows, again, func(int) bool { return true })
	if failure != "" {
		return "after a crash: " + failure
	}
	for id, state := range final {
		if states[id] != state {
			return fmt.Sprintf("after a crash %s ends %s in place of %s", id, states[id], state)
		}
	}
	for id, state := range states {
		if final[id] != state {
			return fmt.Sprintf("after a crash %s ends %s in place of %s", id, state, final[id])
		}
	}
	return ""
}

func (c *check) sameInAnyOrder() string {
	rng := rand.New(rand.NewPCG(uint64(c.h.chance), 10))
	objects, rows := slices.Clone(c.objects), slices.Clone(c.rows)
	rng.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	plan, err := Decide(objects, rows, c.options)
	if err != nil {
		return err.Error()
	}
	if wholeText(plan) != wholeText(c.plan) {
		return "another order of arrival gives another plan"
	}
	return ""
}
