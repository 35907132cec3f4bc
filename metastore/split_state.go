package metastore

import "fmt"

// SplitState is the place of a split in its life. The zero value is no valid state.
type SplitState uint8

const (
	// Staged splits are uploaded or about to be, and invisible to searches.
	Staged SplitState = iota + 1
	// Published splits are searched.
	Published
	// MarkedForDeletion splits are no longer searched and wait for their file to be removed.
	MarkedForDeletion
)

// String returns the spelling used in documents, database columns and requests.
func (s SplitState) String() string {
	switch s {
	case Staged:
		return "Staged"
	case Published:
		return "Published"
	case MarkedForDeletion:
		return "MarkedForDeletion"
	default:
		return fmt.Sprintf("SplitState(%d)", uint8(s))
	}
}

// ParseSplitState reads the spelling of String, exactly.
func ParseSplitState(text string) (SplitState, error) {
	switch text {
	case "Staged":
		return Staged, nil
	case "Published":
		return Published, nil
	case "MarkedForDeletion":
		return MarkedForDeletion, nil
	default:
		return 0, fmt.Errorf("%s is not a split state: expected Staged, Published or MarkedForDeletion", quoteBounded(text))
	}
}
