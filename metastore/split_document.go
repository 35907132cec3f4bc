package metastore

import (
	"math"
	"slices"
	"strconv"

	"holdfast/metastore/internal/strictjson"
)

// Document returns the canonical JSON document: compact, version 0.9, every key in the peer's order,
// unknown keys of the document that was parsed behind them.
func (m *SplitMetadata) Document() string {
	if m.document != "" {
		return m.document
	}
	return string(m.appendDocument(nil, nil))
}

// appendDocument appends the canonical document: compact, version 0.9, every key, in the peer's order.
func (m *SplitMetadata) appendDocument(dst, unknown []byte) []byte {
	dst = append(dst, `{"version":"0.9","split_id":`...)
	dst = strictjson.AppendString(dst, m.SplitID)
	dst = append(dst, `,"index_uid":`...)
	dst = strictjson.AppendString(dst, m.IndexUID.String())
	dst = append(dst, `,"partition_id":`...)
	dst = strconv.AppendUint(dst, m.PartitionID, 10)
	dst = append(dst, `,"source_id":`...)
	dst = strictjson.AppendString(dst, m.SourceID)
	dst = append(dst, `,"node_id":`...)
	dst = strictjson.AppendString(dst, cutNodeID(m.NodeID))
	dst = append(dst, `,"num_docs":`...)
	dst = strconv.AppendUint(dst, m.NumDocs, 10)
	dst = append(dst, `,"uncompressed_docs_size_in_bytes":`...)
	dst = strconv.AppendUint(dst, m.UncompressedDocsSize, 10)
	dst = append(dst, `,"time_range":`...)
	if m.TimeRange.Set {
		dst = append(dst, `{"start":`...)
		dst = strconv.AppendInt(dst, m.TimeRange.Value.Start, 10)
		dst = append(dst, `,"end":`...)
		dst = strconv.AppendInt(dst, m.TimeRange.Value.End, 10)
		dst = append(dst, '}')
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"create_timestamp":`...)
	dst = strconv.AppendInt(dst, m.CreateTimestamp, 10)
	dst = append(dst, `,"maturity":{"type":"`...)
	if m.Maturity.Immature {
		dst = append(dst, `immature","maturation_period_millis":`...)
		dst = strconv.AppendUint(dst, m.Maturity.PeriodMillis, 10)
		dst = append(dst, '}')
	} else {
		dst = append(dst, `mature"}`...)
	}
	dst = append(dst, `,"tags":`...)
	dst = strictjson.AppendStrings(dst, canonicalTags(m.Tags))
	dst = append(dst, `,"footer_offsets":{"start":`...)
	dst = strconv.AppendUint(dst, m.FooterStart, 10)
	dst = append(dst, `,"end":`...)
	dst = strconv.AppendUint(dst, m.FooterEnd, 10)
	dst = append(dst, `},"delete_opstamp":`...)
	dst = strconv.AppendUint(dst, m.DeleteOpstamp, 10)
	dst = append(dst, `,"num_merge_ops":`...)
	dst = strconv.AppendUint(dst, m.NumMergeOps, 10)
	dst = append(dst, `,"doc_mapping_uid":"`...)
	dst = append(dst, m.DocMappingUID.String()...)
	dst = append(dst, '"')
	dst = append(dst, unknown...)
	return append(dst, '}')
}

// canonicalTags returns the tags sorted and without repetitions, which they almost always are.
func canonicalTags(tags []string) []string {
	for i := 1; i < len(tags); i++ {
		if tags[i-1] >= tags[i] {
			sorted := slices.Clone(tags)
			slices.Sort(sorted)
			return slices.Compact(sorted)
		}
	}
	return tags
}

// WithIndexUID returns the metadata of the same split in another index or incarnation.
func (m SplitMetadata) WithIndexUID(uid IndexUID) SplitMetadata {
	if m.IndexUID == uid {
		return m
	}
	return m.patched(uid, m.DeleteOpstamp)
}

// WithDeleteOpstamp returns the metadata with another delete opstamp.
func (m SplitMetadata) WithDeleteOpstamp(opstamp uint64) SplitMetadata {
	if m.DeleteOpstamp == opstamp {
		return m
	}
	return m.patched(m.IndexUID, opstamp)
}

func (m SplitMetadata) patched(uid IndexUID, opstamp uint64) SplitMetadata {
	if m.document == "" {
		m.IndexUID, m.DeleteOpstamp = uid, opstamp
		return m
	}
	text, ok := patchCanonical(make([]byte, 0, len(m.document)+32), m.document, patch{
		indexUID: uid.String(), deleteOpstamp: opstamp, keepUnknown: true,
	})
	if ok {
		// Reading it again makes the strings part of the new document, so that the old one can go.
		if parsed, err := parseSplitMetadata(text, unixNow); err == nil {
			return parsed
		}
	}
	m.IndexUID, m.DeleteOpstamp = uid, opstamp
	m.document = string(m.appendDocument(nil, nil))
	return m
}

// The range of seconds that PostgreSQL's timestamps can hold, and so both stores accept: from the
// start of the Julian calendar's count of days to the end of the year 294276.
const (
	minStoredTimestamp = -210_866_803_200
	maxStoredTimestamp = 9_224_318_015_999
)

// MaturityTimestamp returns the second from which the split is mature, 0 if it always was. ok is
// false if it lies outside the range that every store can hold; seconds is exact then too, unless it
// does not fit 64 bits and is the greatest integer.
func (m *SplitMetadata) MaturityTimestamp() (seconds int64, ok bool) {
	if !m.Maturity.Immature {
		return 0, true
	}
	period := int64(m.Maturity.PeriodMillis / 1000)
	if m.CreateTimestamp > math.MaxInt64-period {
		return math.MaxInt64, false
	}
	seconds = m.CreateTimestamp + period
	return seconds, seconds >= minStoredTimestamp && seconds <= maxStoredTimestamp
}
