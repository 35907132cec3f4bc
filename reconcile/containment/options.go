package containment

import (
	"cmp"
	"time"
)

// Options say what is known besides the objects. Every zero value is the cautious choice.
type Options struct {
	// Attested says that the janitor ran, and that its deletions succeeded, until Reference.
	Attested  bool
	Reference int64 // unix seconds
	// Horizon is the age above which an object that was never published has been collected. 0 means 26
	// hours.
	Horizon time.Duration
	// MarkedHorizon is the age above which the object of a replaced split has been collected. 0 means 2
	// hours.
	MarkedHorizon time.Duration
	// Skew bounds how far any two clocks are apart. 0 means 1 hour, NoSkew none.
	Skew time.Duration
	// NoRewrites attests that no delete task ever ran on the index.
	NoRewrites bool
	// Full compares documents where the checksums of blocks would prove the same: checksums tell what was
	// written, documents what is there.
	Full bool
	// Accepted are the ids of the decisions that a person has taken.
	Accepted map[string]bool
}

// NoSkew is a skew of nothing.
const NoSkew = time.Nanosecond

type clock struct {
	attested bool
	young    int64 // what is born from here on may never have been published, in unix seconds
	recent   int64 // what is born from here on may have parents that are not collected yet
	skew     int64 // milliseconds
}

func newClock(o Options) clock {
	skew := cmp.Or(o.Skew, time.Hour)
	c := clock{attested: o.Attested, skew: skew.Milliseconds()}
	c.young = o.Reference - int64((cmp.Or(o.Horizon, 26*time.Hour)+skew)/time.Second)
	c.recent = o.Reference - int64((cmp.Or(o.MarkedHorizon, 2*time.Hour)+skew)/time.Second)
	return c
}

// mayBeUnpublished says whether the age of an object leaves it open whether it was published.
func (c clock) mayBeUnpublished(o *Object) bool {
	return !c.attested || o.Born >= c.young || ageless(o)
}

// mayHaveParents says whether files of the parents of an object may be left.
func (c clock) mayHaveParents(o *Object) bool { return !c.attested || o.Born >= c.recent || ageless(o) }

// lateUpload is how much later than its id a file may be written for its age to prove anything, in seconds:
// one that was written later may have been given up before it was complete, and then nothing ever
// collects it. Ids are drawn before a merge runs.
const lateUpload = int64(12 * time.Hour / time.Second)

func ageless(o *Object) bool { return !o.Made.Set || o.Born-o.Made.Value/1000 > lateUpload }

// before says whether a may have been made before b.
func (c clock) before(a, b *Object) bool {
	return !a.Made.Set || !b.Made.Set || a.Made.Value <= b.Made.Value+c.skew
}
