package lineage

// waitReason says why a running cluster may still explain an object without a row, zero if it cannot:
// the object is younger than the horizon, or only one scan found it like that. (Objects are listed
// before rows, so one that is collected between the two looks like that as well.)
func (d *decider) waitReason(x node) Reason {
	object := d.object(x)
	switch {
	case !d.clock.old(object):
		return ReasonYoung
	case !object.RowlessTwice:
		return ReasonSeenOnce
	default:
		return 0
	}
}
