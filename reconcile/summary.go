package reconcile

// Summary is the result of Plan and Run. Its JSON names are stable.
type Summary struct {
	Indexes []IndexSummary `json:"indexes"`
}

// IndexSummary is what was found and done in one index. Counts are of objects unless they say
// otherwise.
type IndexSummary struct {
	IndexID string `json:"index_id"`
	// IndexUID is the one of the metastore; when it lacks the index, the one that the files name. Empty
	// if neither tells.
	IndexUID string `json:"index_uid"`
	// RecoveredUID is the incarnation that the files name, if it is not IndexUID.
	RecoveredUID string `json:"recovered_index_uid,omitempty"`
	Missing      bool   `json:"missing,omitempty"` // the metastore lacks the index
	Created      bool   `json:"created,omitempty"` // this run created it
	// KeptIncarnation says that this run created it with the incarnation that the files name.
	KeptIncarnation bool   `json:"kept_incarnation,omitempty"`
	Location        string `json:"location"`
	Objects         int64  `json:"objects"`
	// Decisions counts the objects by decision.
	Decisions map[string]int64 `json:"decisions"`
	// Documents and Bytes add up the objects by decision; documents of legacy and unreadable files
	// count as none.
	Documents map[string]uint64 `json:"documents"`
	Bytes     map[string]uint64 `json:"bytes"`
	// DeleteOpstamps says what has to become of the counter of delete opstamps; nil if it is high enough.
	DeleteOpstamps *OpstampRaise `json:"delete_opstamps,omitempty"`
	// ToPublish counts the objects that the plan publishes.
	ToPublish int64 `json:"to_publish"`
	// Staged and Published count what this run wrote.
	Staged    int64 `json:"staged"`
	Published int64 `json:"published"`
	// Skipped counts the objects that have a row which was left alone.
	Skipped int64 `json:"skipped"`
	// Failed counts the objects that should have been published and were not.
	Failed int64 `json:"failed"`
	// NeedsPerson counts the findings that need a person.
	NeedsPerson int64            `json:"needs_person"`
	Others      map[string]int64 `json:"other_entries,omitempty"` // what lies there beside split files
	// Reads is all that was read of the files.
	Reads ReadStats `json:"reads"`
	// Contents is what comparing documents took.
	Contents ContentStats `json:"contents"`
	Findings []Finding    `json:"findings,omitempty"`
	// FindingsLeftOut counts findings that only the report holds: the summary has twenty of each code.
	FindingsLeftOut int64 `json:"findings_left_out,omitempty"`
	// Skeleton is what the files tell of the configuration of a missing index.
	Skeleton *Skeleton `json:"config_skeleton,omitempty"`
}

// OpstampRaise is a raise of what the opstamps of new delete tasks are above.
type OpstampRaise struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
	Done bool   `json:"done"` // false in a plan
}

// NeedsPerson reports whether something was found that a person has to look at.
func (s *Summary) NeedsPerson() bool {
	for i := range s.Indexes {
		if s.Indexes[i].NeedsPerson > 0 {
			return true
		}
	}
	return false
}

// Failed reports whether objects were not published that should have been.
func (s *Summary) Failed() bool {
	for i := range s.Indexes {
		if s.Indexes[i].Failed > 0 {
			return true
		}
	}
	return false
}
