package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"holdfast/cmd/metastore/internal/output"
	"holdfast/metastore/interop"
)

// transferProgress shows how far an import or an export is: a bar for a person, a line now and then in a log.
type transferProgress struct {
	*system
	quiet   bool // no lines in a log
	bar     *progressbar.ProgressBar
	last    interop.Progress
	begun   time.Time
	printed time.Time
}

func newTransferProgress(sys *system, quiet bool) *transferProgress {
	now := time.Now()
	return &transferProgress{system: sys, quiet: quiet, begun: now, printed: now}
}

func (p *transferProgress) tell(now interop.Progress) {
	p.last = now
	interval := logInterval
	if p.progress {
		interval = drawInterval
	}
	if time.Since(p.printed) < interval {
		return
	}
	p.printed = time.Now()
	switch {
	case p.progress:
		if p.bar == nil {
			p.bar = p.newBar()
		}
		p.bar.Describe(fmt.Sprintf("%d of %d indexes, %s", now.Done, now.Total, visible(now.IndexID)))
		// A bar that cannot be drawn is no reason to stop.
		_ = p.bar.Set64(now.Bytes)
	case !p.quiet:
		p.line()
	}
}

func (p *transferProgress) newBar() *progressbar.ProgressBar {
	total := p.last.TotalBytes
	if total == 0 {
		total = -1
	}
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(p.stderr),
		progressbar.OptionSetSpinnerChangeInterval(0), // else it is drawn again after it was cleared
		progressbar.OptionShowBytes(true), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetElapsedTime(true))
}

func (p *transferProgress) line() {
	text := fmt.Sprintf("%s of %s indexes, %s", output.Count(p.last.Done), output.Count(p.last.Total), output.Bytes(uint64(p.last.Bytes)))
	if p.last.TotalBytes > 0 {
		text += " of " + output.Bytes(uint64(p.last.TotalBytes))
	}
	text += " read and compared"
	if seconds := time.Since(p.begun).Seconds(); seconds >= 1 && p.last.Bytes > 0 {
		rate := float64(p.last.Bytes) / seconds
		text += fmt.Sprintf(", %s/s", output.Bytes(uint64(rate)))
		if left := p.last.TotalBytes - p.last.Bytes; left > 0 {
			text += fmt.Sprintf(", %s left", time.Duration(float64(left)/rate*float64(time.Second)).Round(time.Second))
		}
	}
	// If stderr is gone there is nobody to tell.
	_, _ = fmt.Fprintln(p.stderr, text)
}

// finish takes the bar away, and says in a log how far it came.
func (p *transferProgress) finish() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	if p.last.Total > 0 && !p.quiet {
		p.line()
	}
}
