package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/reconcile"
)

// reconcileProgress shows how far a reconciliation is: a bar for a person, a line now and then in a
// log.
type reconcileProgress struct {
	*system
	quiet   bool // no lines in a log
	bar     *progressbar.ProgressBar
	index   string
	phase   reconcile.Phase
	last    reconcile.Progress
	begun   time.Time
	printed time.Time
}

// drawInterval is the time between two changes of the bar.
const drawInterval = 100 * time.Millisecond

// logInterval is the time between two lines about the same phase in a log.
const logInterval = 10 * time.Second

func newReconcileProgress(sys *system, quiet bool) *reconcileProgress {
	return &reconcileProgress{system: sys, quiet: quiet}
}

var phaseNames = map[reconcile.Phase]string{
	reconcile.Listing: "listing objects", reconcile.Reading: "reading footers",
	reconcile.Deciding: "deciding", reconcile.Comparing: "comparing documents", reconcile.Applying: "staging and publishing",
}

func (p *reconcileProgress) tell(now reconcile.Progress) {
	if now.IndexID != p.index || now.Phase != p.phase {
		p.endPhase()
		p.index, p.phase, p.begun, p.printed = now.IndexID, now.Phase, time.Now(), time.Now()
		if p.progress {
			p.bar = p.newBar(now)
		}
	}
	p.last = now
	if p.bar != nil {
		if time.Since(p.printed) >= drawInterval {
			p.printed = time.Now()
			p.bar.Describe(describe(now))
			// A bar that cannot be drawn is no reason to stop.
			_ = p.bar.Set64(now.Done)
		}
		return
	}
	if !p.quiet && time.Since(p.printed) >= logInterval {
		p.printed = time.Now()
		p.line()
	}
}

func (p *reconcileProgress) newBar(now reconcile.Progress) *progressbar.ProgressBar {
	total := now.Total
	if total == 0 {
		total = -1
	}
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(p.stderr),
		progressbar.OptionSetDescription(describe(now)),
		progressbar.OptionSetSpinnerChangeInterval(0), // else it is drawn again after it was cleared
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("objects"),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetElapsedTime(true))
}

// describe is the text in front of the bar.
func describe(now reconcile.Progress) string {
	text := visible(now.IndexID) + ": " + phaseNames[now.Phase]
	if now.Bytes > 0 {
		text += ", " + output.Bytes(uint64(now.Bytes))
	}
	return text
}

// endPhase takes the bar away and says what the phase did.
func (p *reconcileProgress) endPhase() {
	if p.phase == "" {
		return
	}
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
	if p.phase != reconcile.Deciding && !p.quiet {
		p.line()
	}
}

func (p *reconcileProgress) line() {
	text := fmt.Sprintf("%s: %s: %s", visible(p.index), phaseNames[p.phase], output.Count(p.last.Done))
	if p.last.Total > 0 {
		text += " of " + output.Count(p.last.Total)
	}
	if p.last.Bytes > 0 {
		text += fmt.Sprintf(", files of %s", output.Bytes(uint64(p.last.Bytes)))
	}
	elapsed := time.Since(p.begun)
	if seconds := elapsed.Seconds(); seconds >= 1 && p.last.Done > 0 {
		rate := float64(p.last.Done) / seconds
		text += fmt.Sprintf(", %.0f/s", rate)
		if left := p.last.Total - p.last.Done; left > 0 {
			text += fmt.Sprintf(", %s left", time.Duration(float64(left)/rate*float64(time.Second)).Round(time.Second))
		}
	}
	// If stderr is gone there is nobody to tell.
	_, _ = fmt.Fprintln(p.stderr, text)
}

func (p *reconcileProgress) finish() {
	p.endPhase()
	p.phase = ""
}
