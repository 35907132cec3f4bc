package cluster

import "time"

// NextGeneration returns the generation of a member that starts now and whose last run had the
// generation last, 0 if that is not known. Others ignore a member whose generation does not rise, as
// it would not after the clock was set back.
func NextGeneration(now time.Time, last uint64) uint64 {
	return max(uint64(max(now.UnixNano(), 1)), last+1)
}
