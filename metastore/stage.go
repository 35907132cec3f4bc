package metastore

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a staged split, in both stores those of the peer's PostgreSQL schema.
const (
	MaxSplitIDLength = 50  // characters
	MaxNodeIDLength  = 253 // characters
	// MaxOpstamp is the greatest delete opstamp and the greatest end of a footer.
	MaxOpstamp = math.MaxInt64
)

// PrepareStage applies the rules of staging that do not depend on what is stored: it checks the limits
// of every split, gives each the request's index UID, keeps one split of each id (the last for an upsert,
// the first in create-only mode) and sorts them by the bytes of their ids. The request is not changed.
// It fails with InvalidArgument, naming the split and the field.
func PrepareStage(request StageSplitsRequest) ([]SplitMetadata, error) {
	for i := range request.Splits {
		if err := checkStageable(&request.Splits[i]); err != nil {
			return nil, err
		}
	}
	// Positions are sorted, not the splits, which are large.
	order := make([]int, len(request.Splits))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return strings.Compare(request.Splits[a].SplitID, request.Splits[b].SplitID)
	})
	splits := make([]SplitMetadata, 0, len(order))
	for i, at := range order {
		neighbour := i - 1
		if !request.CreateOnly {
			neighbour = i + 1
		}
		if neighbour >= 0 && neighbour < len(order) && request.Splits[order[neighbour]].SplitID == request.Splits[at].SplitID {
			continue
		}
		splits = append(splits, request.Splits[at].WithIndexUID(request.IndexUID))
	}
	return splits, nil
}

func checkStageable(m *SplitMetadata) error {
	refuse := func(field, format string, args ...any) error {
		return InvalidArgument("staging split %s: "+field+" "+format, append([]any{quoteBounded(m.SplitID)}, args...)...)
	}
	if n := utf8.RuneCountInString(m.SplitID); n > MaxSplitIDLength {
		return refuse("split_id", "has %d characters; at most %d are allowed", n, MaxSplitIDLength)
	}
	if n := utf8.RuneCountInString(m.NodeID); n > MaxNodeIDLength {
		return refuse("node_id", "has %d characters; at most %d are allowed", n, MaxNodeIDLength)
	}
	if m.DeleteOpstamp > MaxOpstamp {
		return refuse("delete_opstamp", "is %d; at most %d is allowed", m.DeleteOpstamp, uint64(MaxOpstamp))
	}
	if m.FooterEnd > MaxOpstamp {
		return refuse("footer_offsets.end", "is %d; at most %d is allowed", m.FooterEnd, uint64(MaxOpstamp))
	}
	if _, ok := m.MaturityTimestamp(); !ok {
		return refuse("maturity", "of %d ms after create_timestamp %d is outside the range of timestamps", m.Maturity.PeriodMillis, m.CreateTimestamp)
	}
	if m.holdsNUL() {
		return refuse("document", "holds the character U+0000, which a store cannot hold")
	}
	return nil
}

// holdsNUL reports whether a string anywhere in the document contains the character U+0000.
func (m *SplitMetadata) holdsNUL() bool {
	if m.document == "" {
		return strings.Contains(m.SplitID+m.NodeID+m.SourceID, "\x00") ||
			slices.ContainsFunc(m.Tags, func(tag string) bool { return strings.Contains(tag, "\x00") })
	}
	return holdsEscapedNUL(m.document)
}

// holdsEscapedNUL reports whether a canonical JSON text contains the character U+0000, which it can only
// spell as an escape.
func holdsEscapedNUL(text string) bool {
	for rest := text; ; {
		at := strings.Index(rest, `\u0000`)
		if at < 0 {
			return false
		}
		// The backslash begins an escape unless it is the second of a pair.
		before := rest[:at]
		if (len(before)-len(strings.TrimRight(before, `\`)))%2 == 0 {
			return true
		}
		rest = rest[at+len(`\u0000`):]
	}
}

// UniqueSplitIDs returns the ids in the order of their first occurrences, without repetitions. It
// returns ids itself when nothing is repeated.
func UniqueSplitIDs(ids []string) []string {
	seen := make(map[string]struct{}, len(ids))
	for i, id := range ids {
		if _, again := seen[id]; !again {
			seen[id] = struct{}{}
			continue
		}
		unique := slices.Clone(ids[:i])
		for _, id := range ids[i:] {
			if _, again := seen[id]; !again {
				seen[id] = struct{}{}
				unique = append(unique, id)
			}
		}
		return unique
	}
	return ids
}
