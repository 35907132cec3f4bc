package lineage

import "time"

// clock answers the only question that the procedure asks about time: whether an object is so old that
// it would have been collected, had it never been published.
type clock struct {
	options   Options
	reference int64
	oldest    int64 // objects born before this are older than the horizon
	skew      int64 // seconds
}

func newClock(objects []Object, options Options) clock {
	c := clock{options: options, reference: options.ReferenceTime, skew: int64(options.ClockSkew / time.Second)}
	if c.reference == 0 {
		for i := range objects {
			at := objects[i].LastModified
			if options.IgnoreLastModified {
				at = objects[i].CreateTimestamp
			}
			c.reference = max(c.reference, at)
		}
	}
	c.oldest = c.reference - int64(options.Horizon/time.Second) - c.skew
	return c
}

// old says whether the object is older than the horizon, whatever that proves.
func (c clock) old(object *Object) bool {
	born := max(object.CreateTimestamp, object.LastModified)
	if c.options.IgnoreLastModified {
		if object.CreateTimestamp <= 0 {
			return false
		}
		born = object.CreateTimestamp
	}
	return born < c.oldest
}

// provesPublished says whether the object's age proves that it was published at some time.
func (c clock) provesPublished(object *Object) bool {
	if !c.options.GCHealthy || c.options.Live || !c.old(object) || object.CreateTimestamp <= 0 {
		return false
	}
	if c.options.IgnoreLastModified {
		return true
	}
	late := lateUpload
	if object.Content == Legacy {
		late = lateLegacyUpload
	}
	return object.CreateTimestamp >= object.LastModified-late
}
