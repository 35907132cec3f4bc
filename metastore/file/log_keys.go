package file

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	logDirectory      = "_log/"
	snapshotDirectory = "_snapshot/"
	objectSuffix      = ".json"
	versionDigits     = 20
	// trimmedName is the mark that entries were, or are about to be, removed from a log.
	trimmedName = "trimmed"
)

// logKeys are the names of the objects of one log.
type logKeys struct {
	// prefix is empty for the root log, otherwise "<index id>/".
	prefix string
}

func (k logKeys) entries() string   { return k.prefix + logDirectory }
func (k logKeys) snapshots() string { return k.prefix + snapshotDirectory }
func (k logKeys) trimmed() string   { return k.entries() + trimmedName }

func (k logKeys) entry(version uint64) string { return k.entries() + versionName(version) }

func (k logKeys) snapshot(version uint64) string { return k.snapshots() + versionName(version) }

func versionName(version uint64) string {
	return fmt.Sprintf("%0*d%s", versionDigits, version, objectSuffix)
}

// parseVersions returns the versions that object names stand for, ascending. Other names are left out.
func parseVersions(names []string) []uint64 {
	versions := make([]uint64, 0, len(names))
	for _, name := range names {
		digits, ok := strings.CutSuffix(name, objectSuffix)
		if !ok || len(digits) != versionDigits {
			continue
		}
		if version, err := strconv.ParseUint(digits, 10, 64); err == nil && version > 0 {
			versions = append(versions, version)
		}
	}
	slices.Sort(versions)
	return slices.Compact(versions)
}
