package lineage

import (
	"fmt"
	"time"

	"holdfast/metastore"
)

// Options say what is known besides the objects and the rows. Only IndexUID.IndexID is required; every
// other zero value is the cautious choice.
type Options struct {
	// IndexUID names the index. Its incarnation may be zero: then the greatest incarnation among the
	// objects is recovered, and the others are reported.
	IndexUID metastore.IndexUID
	// Aliases are earlier incarnations of the same index whose splits still belong to it, because an
	// earlier recovery gave the index a new incarnation.
	Aliases []metastore.IndexUID

	// Live is set when the metastore is intact and the cluster runs: only objects without a row are
	// judged, and the rows are the truth. Otherwise the index must be frozen: no writer, merger,
	// janitor or other recovery acts on it.
	Live bool
	// LiveRecover publishes what live mode cannot explain. Without it such objects are withheld: an
	// intact metastore knows every published split, so most of them never were.
	LiveRecover bool

	// GCHealthy attests that the janitor ran, and that its deletions succeeded, until ReferenceTime.
	// Without it age proves nothing.
	GCHealthy bool
	// ReferenceTime is the last time, in unix seconds, at which GCHealthy is known to have been true;
	// at most the time of the loss. Zero means the greatest LastModified of all objects.
	ReferenceTime int64
	// Horizon is the age above which an object that was never published has been collected. Zero
	// means 26 hours: 24 hours for staged rows, the grace period, and the janitor's lag. Add 48 hours
	// if the cluster used a longer grace period than the default.
	Horizon time.Duration
	// MarkedHorizon is the age above which the object of a marked row has been collected. Zero means
	// 2 hours.
	MarkedHorizon time.Duration
	// ClockSkew bounds how far any two clocks are apart. Zero means 1 hour.
	ClockSkew time.Duration
	// IgnoreLastModified is for a bucket that was copied or restored, where LastModified is the time
	// of the copy.
	IgnoreLastModified bool
	// RowsComplete attests that the rows are all the rows of one instant, as a database backup or an old
	// version of a metastore file holds them. Then a row that is not there was not there at that
	// instant. Without it any row may have been lost.
	RowsComplete bool
	// NoDeleteTasks attests that no delete task ever ran on the index. Then fewer splits are suspected of
	// hidden links.
	NoDeleteTasks bool
	// LastMark is the last time, in unix seconds, at which retention, a person or a delete task marked
	// splits without a replacement, when that is known.
	LastMark metastore.Optional[int64]

	// YoungL0 is the policy for objects flagged FlagYoungL0.
	YoungL0 FlagPolicy
	// HiddenLink is the policy for objects flagged FlagHiddenLink; PublishUnchanged is refused.
	HiddenLink FlagPolicy

	// AdoptStaged allows publishing a Staged row that somebody else staged, if the index is frozen and
	// the row equals its object: a backup may have caught it between stage and publish.
	AdoptStaged bool
}

// FlagPolicy says what happens to a flagged object that would be published.
type FlagPolicy uint8

const (
	// PublishMature publishes it as mature, which keeps merges away from it, so that it can still be
	// removed when it turns out to be a duplicate. This is the zero value: loss is worse than a
	// duplicate that can be removed.
	PublishMature FlagPolicy = iota
	// PublishUnchanged publishes it with the maturity it had.
	PublishUnchanged
	// Withhold leaves it to a person.
	Withhold
)

const (
	defaultHorizon       = 26 * time.Hour
	defaultMarkedHorizon = 2 * time.Hour
	defaultClockSkew     = time.Hour
	// An upload that ended so long after it began may have ended after its row was given up: by the
	// janitor after 24 hours, or earlier by a person who marked it, and the janitor after the grace
	// period. Nothing ever collects such an object, so its age proves nothing. In seconds.
	lateUpload = int64(15 * time.Minute / time.Second)
	// Without a recovery entry only the time in the id is known, which a merge draws before it runs.
	lateLegacyUpload = int64(12 * time.Hour / time.Second)
)

func (o Options) withDefaults() (Options, error) {
	if o.IndexUID.IndexID == "" {
		return o, fmt.Errorf("decide lineage: options name no index id")
	}
	for _, alias := range o.Aliases {
		if alias.IndexID != o.IndexUID.IndexID {
			return o, fmt.Errorf("decide lineage: alias %s is not of index %q", alias, o.IndexUID.IndexID)
		}
	}
	if o.ReferenceTime < 0 {
		return o, fmt.Errorf("decide lineage: reference time %d is negative", o.ReferenceTime)
	}
	for _, d := range []struct {
		name    string
		value   *time.Duration
		unset   time.Duration
		maximum time.Duration
	}{
		{"horizon", &o.Horizon, defaultHorizon, 100 * 365 * 24 * time.Hour},
		{"marked horizon", &o.MarkedHorizon, defaultMarkedHorizon, 100 * 365 * 24 * time.Hour},
		{"clock skew", &o.ClockSkew, defaultClockSkew, 100 * 365 * 24 * time.Hour},
	} {
		if *d.value < 0 || *d.value > d.maximum {
			return o, fmt.Errorf("decide lineage: %s %s is not between 0 and 100 years", d.name, *d.value)
		}
		if *d.value == 0 {
			*d.value = d.unset
		}
	}
	if o.YoungL0 > Withhold {
		return o, fmt.Errorf("decide lineage: young L0 policy %d is unknown", o.YoungL0)
	}
	if o.HiddenLink != PublishMature && o.HiddenLink != Withhold {
		return o, fmt.Errorf("decide lineage: hidden link policy %d is neither publish-mature nor withhold", o.HiddenLink)
	}
	return o, nil
}
