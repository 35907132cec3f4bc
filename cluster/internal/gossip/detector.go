package gossip

import "time"

const (
	// detectorWindow is how many intervals between arrivals of heartbeats are looked back on.
	detectorWindow = 1_000
	// longestInterval is the longest interval that says something about the usual pace.
	longestInterval = 10 * time.Second
	// priorIntervals and priorInterval temper the judgement on a member that is known for a short time:
	// so many intervals of that length are imagined before the first.
	priorIntervals = 5
	priorInterval  = 5 * time.Second
	// phiThreshold is how many mean intervals of silence a live member is allowed.
	phiThreshold = 8.0
)

// detector judges from the arrivals of new heartbeats whether a member is alive, by the phi accrual
// method. The zero value has seen no arrival.
type detector struct {
	intervals []time.Duration // a ring once it is full
	next      int             // the oldest place of the ring
	sum       time.Duration
	last      time.Time
}

// arrived records a new heartbeat.
func (d *detector) arrived(now time.Time) {
	last := d.last
	d.last = now
	interval := now.Sub(last)
	if last.IsZero() || interval > longestInterval {
		return
	}
	d.sum += interval
	if len(d.intervals) < detectorWindow {
		d.intervals = append(d.intervals, interval)
		return
	}
	d.sum -= d.intervals[d.next]
	d.intervals[d.next] = interval
	d.next = (d.next + 1) % detectorWindow
}

// alive says whether the silence is within what the pace of the member lets expect. Without an interval
// nothing is known, which counts as not alive.
func (d *detector) alive(now time.Time) bool {
	n := len(d.intervals)
	if n == 0 {
		return false
	}
	mean := (d.sum + priorIntervals*priorInterval).Seconds() / float64(n+priorIntervals)
	return now.Sub(d.last).Seconds()/mean <= phiThreshold
}

// forget drops the intervals, but not the time of the last arrival: one interval more and the member is
// alive again.
func (d *detector) forget() {
	d.intervals, d.next, d.sum = nil, 0, 0
}
