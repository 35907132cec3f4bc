package replay

import (
	"fmt"
	"slices"
)

// expectations say what we answer: what the peer does, unless the table says otherwise.
type expectations struct {
	deviations map[place]deviation
	met        map[place]bool // deviations that were checked
}

// place is one step on one store.
type place struct {
	scenario string
	step     int // from 1
	backend  Backend
}

// newExpectations checks the table against the scenarios.
func newExpectations(scenarios []scenario, rows []deviation) (*expectations, error) {
	e := &expectations{deviations: map[place]deviation{}, met: map[place]bool{}}
	steps := map[string]int{}
	for _, s := range scenarios {
		steps[s.Name] = len(s.Steps)
	}
	for _, row := range rows {
		for _, step := range row.steps {
			if step < 1 || step > steps[row.scenario] {
				return nil, fmt.Errorf("deviation %s: scenario %q has no step %d", row.rule, row.scenario, step)
			}
			for _, backend := range row.backends() {
				at := place{row.scenario, step, backend}
				if _, again := e.deviations[at]; again {
					return nil, fmt.Errorf("deviation %s: step %d of %q on %s is in the table twice", row.rule, step, row.scenario, backend)
				}
				e.deviations[at] = row
			}
		}
	}
	return e, nil
}

// check returns what is wrong with an answer, empty when it is what we mean to answer.
func (e *expectations) check(m *matcher, scenario string, number int, step *step, backend Backend, got *answer) string {
	recorded := step.on(backend)
	at := place{scenario, number, backend}
	row, deviates := e.deviations[at]
	e.met[at] = true
	if !deviates {
		if recorded.Code == "Canceled" {
			recorded = refusal("InvalidArgument") // the peer's handler crashed
		}
		return m.match(recorded, got)
	}
	if m.match(recorded, got) == "" {
		return fmt.Sprintf("the answer is the peer's, although the table of deviations says otherwise (%s)", row.rule)
	}
	want, err := row.want(step, backend)
	if err != nil {
		return fmt.Sprintf("deviation %s: %v", row.rule, err)
	}
	if difference := m.match(want, got); difference != "" {
		return fmt.Sprintf("deviation %s: %s", row.rule, difference)
	}
	return ""
}

// checkMet returns which deviations of a scenario were not checked, because their steps were not played.
func (e *expectations) checkMet(scenario string, backend Backend) string {
	var missed []int
	for at := range e.deviations {
		if at.scenario == scenario && at.backend == backend && !e.met[at] {
			missed = append(missed, at.step)
		}
	}
	if len(missed) == 0 {
		return ""
	}
	slices.Sort(missed)
	return fmt.Sprintf("the table of deviations names steps %v, which were not played", missed)
}
