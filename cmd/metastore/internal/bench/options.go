// Package bench drives running servers of the metastore service with a fixed mix of calls and
// measures them. It speaks the peer's contract, so that servers of both can be compared: several
// targets are driven in one run, in short turns, so that noise of the machine hits all of them.
package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Scenario is what the clients do.
type Scenario string

// The scenarios.
const (
	// Stage stages new splits.
	Stage Scenario = "stage"
	// StageAgain stages splits that are staged already; each is written again.
	StageAgain Scenario = "stage-again"
	// CreateOnly stages splits that are there already in create-only mode; nothing is written.
	CreateOnly Scenario = "create-only"
	// Publish publishes splits that were staged before the clock started.
	Publish Scenario = "publish"
	// List lists all splits of the index.
	List Scenario = "list"
	// Mixed takes batches through their life: stage, publish, list a page, mark, delete.
	Mixed Scenario = "mixed"
)

// Scenarios returns all scenarios in the order of the documentation.
func Scenarios() []Scenario { return []Scenario{Stage, StageAgain, CreateOnly, Publish, List, Mixed} }

// Bounds of a run.
const (
	maxTargets  = 8
	maxClients  = 1024
	maxBatch    = 10_000
	maxSplits   = 10_000_000
	maxDuration = time.Hour
	maxPrefix   = 100
)

// Options says what to measure. All fields must be set unless their comment says otherwise.
type Options struct {
	Targets  []string // host:port, each once
	Scenario Scenario
	// Clients is the number of connections to each target; each makes one call at a time.
	Clients int
	// Batch is the number of splits in one call.
	Batch int
	// Splits is the number of splits that are staged before the clock starts, in each target.
	Splits int
	// Duration bounds the measured time of each target.
	Duration time.Duration
	// Calls bounds the measured calls of each target. 0 means no bound.
	Calls int
	// Slice is the length of one turn of a target.
	Slice time.Duration
	// CallTimeout bounds one call.
	CallTimeout time.Duration
	// IndexPrefix begins the id of the index that is made for the run and deleted at its end.
	IndexPrefix string
	// Progress is told what is going on. May be nil.
	Progress func(text string)
}

// Validate says which option cannot work.
func (o *Options) Validate() error {
	if len(o.Targets) == 0 || len(o.Targets) > maxTargets {
		return fmt.Errorf("there must be 1 to %d targets, not %d", maxTargets, len(o.Targets))
	}
	for i, target := range o.Targets {
		if target == "" || slices.Contains(o.Targets[:i], target) {
			return fmt.Errorf("target %q is empty or given twice", target)
		}
	}
	if !slices.Contains(Scenarios(), o.Scenario) {
		return fmt.Errorf("%q is no scenario, must be one of %s", o.Scenario, joinScenarios())
	}
	for _, bound := range []struct {
		name             string
		value, low, high int
	}{
		{"clients", o.Clients, 1, maxClients},
		{"batch", o.Batch, 1, maxBatch},
		{"splits", o.Splits, 0, maxSplits},
		{"calls", o.Calls, 0, 1 << 40},
	} {
		if bound.value < bound.low || bound.value > bound.high {
			return fmt.Errorf("%s is %d, must be from %d to %d", bound.name, bound.value, bound.low, bound.high)
		}
	}
	for _, bound := range []struct {
		name  string
		value time.Duration
	}{{"duration", o.Duration}, {"slice", o.Slice}, {"timeout", o.CallTimeout}} {
		if bound.value <= 0 || bound.value > maxDuration {
			return fmt.Errorf("%s is %s, must be above 0 and at most %s", bound.name, bound.value, maxDuration)
		}
	}
	if o.Scenario.needsSplits() && o.Splits < o.Batch {
		return fmt.Errorf("splits is %d, scenario %s needs at least one batch of %d", o.Splits, o.Scenario, o.Batch)
	}
	if len(o.IndexPrefix) > maxPrefix {
		return errors.New("index-prefix is too long")
	}
	return nil
}

// needsSplits reports whether calls of the scenario work on splits that were staged before.
func (s Scenario) needsSplits() bool {
	return s == StageAgain || s == CreateOnly || s == Publish || s == List
}

func joinScenarios() string {
	names := make([]string, 0, len(Scenarios()))
	for _, scenario := range Scenarios() {
		names = append(names, string(scenario))
	}
	return strings.Join(names, ", ")
}
