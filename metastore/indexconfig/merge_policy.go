package indexconfig

import (
	"fmt"

	"holdfast/metastore/internal/strictjson"
)

// The types of merge policies.
const (
	NoMerge    = "no_merge"
	LimitMerge = "limit_merge"
	StableLog  = "stable_log"
)

// MergePolicy says when the splits of an index are merged. Which fields count
// depends on the type; the others are zero.
type MergePolicy struct {
	Type string

	MergeFactor      uint64        // LimitMerge, StableLog
	MaxMergeFactor   uint64        // LimitMerge, StableLog
	MaturationPeriod HumanDuration // LimitMerge, StableLog

	MinLevelNumDocs uint64 // StableLog

	MaxMergeOps                uint64  // LimitMerge
	MaxFinalizeMergeOperations uint64  // LimitMerge
	MaxFinalizeSplitNumDocs    *uint64 // LimitMerge; nil: none
}

// DefaultMergePolicy returns the policy of an index that names none.
func DefaultMergePolicy() MergePolicy { return defaultMergePolicyOf(StableLog) }

func defaultMergePolicyOf(policyType string) MergePolicy {
	p := MergePolicy{Type: policyType}
	if policyType == NoMerge {
		return p
	}
	p.MergeFactor = 10
	p.MaxMergeFactor = 12
	p.MaturationPeriod = HumanDuration{seconds: 2 * secondsPerDay}
	if policyType == StableLog {
		p.MinLevelNumDocs = 100_000
	} else {
		p.MaxMergeOps = 4
	}
	return p
}

var (
	noMergeKeys    = strictjson.Keys{{Name: "type"}}
	limitMergeKeys = strictjson.Keys{
		{Name: "type"},
		{Name: "merge_factor"},
		{Name: "max_merge_factor"},
		{Name: "max_merge_ops"},
		{Name: "maturation_period"},
		{Name: "max_finalize_merge_operations"},
		{Name: "max_finalize_split_num_docs"},
	}
	stableLogKeys = strictjson.Keys{
		{Name: "type"},
		{Name: "min_level_num_docs"},
		{Name: "merge_factor"},
		{Name: "max_merge_factor"},
		{Name: "maturation_period"},
	}
)

func (p *MergePolicy) read(r *strictjson.Reader) error {
	return r.Tagged("type", func(policyType string) error {
		keys := limitMergeKeys
		switch policyType {
		case NoMerge:
			*p = defaultMergePolicyOf(NoMerge)
			return r.Object(noMergeKeys, strictjson.Ignore, func(string) error { return r.Skip() })
		case LimitMerge:
		case StableLog, "default":
			policyType, keys = StableLog, stableLogKeys
		default:
			return strictjson.Within("type", fmt.Errorf("unknown merge policy %s; known policies are %s, %s, %s",
				strictjson.Quote(policyType), NoMerge, LimitMerge, StableLog))
		}
		*p = defaultMergePolicyOf(policyType)
		return r.Object(keys, strictjson.Reject, func(key string) error { return p.readOption(r, key) })
	})
}

func (p *MergePolicy) readOption(r *strictjson.Reader, key string) error {
	switch key {
	case "merge_factor":
		return r.Uint64(&p.MergeFactor)
	case "max_merge_factor":
		return r.Uint64(&p.MaxMergeFactor)
	case "maturation_period":
		return readDuration(r, &p.MaturationPeriod)
	case "min_level_num_docs":
		return r.Uint64(&p.MinLevelNumDocs)
	case "max_merge_ops":
		return r.Uint64(&p.MaxMergeOps)
	case "max_finalize_merge_operations":
		return r.Uint64(&p.MaxFinalizeMergeOperations)
	case "max_finalize_split_num_docs":
		return strictjson.Optional(r, &p.MaxFinalizeSplitNumDocs, r.Uint64)
	default:
		return r.Skip() // the type, known already
	}
}

func (p *MergePolicy) write(w *strictjson.Writer) {
	w.Begin('{').Key("type").String(p.Type)
	switch p.Type {
	case StableLog:
		w.Key("min_level_num_docs").Uint64(p.MinLevelNumDocs)
		w.Key("merge_factor").Uint64(p.MergeFactor)
		w.Key("max_merge_factor").Uint64(p.MaxMergeFactor)
		w.Key("maturation_period").String(p.MaturationPeriod.String())
	case LimitMerge:
		w.Key("merge_factor").Uint64(p.MergeFactor)
		w.Key("max_merge_factor").Uint64(p.MaxMergeFactor)
		w.Key("max_merge_ops").Uint64(p.MaxMergeOps)
		w.Key("maturation_period").String(p.MaturationPeriod.String())
		if p.MaxFinalizeMergeOperations != 0 {
			w.Key("max_finalize_merge_operations").Uint64(p.MaxFinalizeMergeOperations)
		}
		if p.MaxFinalizeSplitNumDocs != nil {
			w.Key("max_finalize_split_num_docs").Uint64(*p.MaxFinalizeSplitNumDocs)
		}
	}
	w.End('}')
}

// validate checks that the factors fit each other. Zero for both is allowed,
// because the peer allows it.
func (p *MergePolicy) validate() error {
	if p.MaxMergeFactor < p.MergeFactor {
		return fmt.Errorf("max_merge_factor %d must not be less than merge_factor %d", p.MaxMergeFactor, p.MergeFactor)
	}
	return nil
}
