package replay

// waiting names the scenarios with calls that are not served yet, and the first of these calls. They are
// played and compared up to the first such call that would have changed what the served ones answer.
func waiting() map[string]string {
	return map[string]string{
		"index-identity":              "ListMetricsSplits",
		"split-delete-tasks":          "LastDeleteOpstamp",
		"split-list-ranges":           "UpdateSplitsDeleteOpstamp",
		"split-metrics-bad":           "StageMetricsSplits",
		"split-metrics-edge":          "StageMetricsSplits",
		"split-metrics-list":          "StageMetricsSplits",
		"split-metrics":               "StageMetricsSplits",
		"split-no-index-uid":          "ListStaleSplits",
		"split-old-incarnation":       "CreateDeleteTask",
		"split-sketch-list":           "StageSketchSplits",
		"split-sketch":                "StageSketchSplits",
		"split-stale":                 "ListStaleSplits",
		"split-stats":                 "StageMetricsSplits",
		"split-unknown-index-parquet": "StageMetricsSplits",
		"split-unknown-index":         "ListStaleSplits",
		"split-update-opstamp":        "UpdateSplitsDeleteOpstamp",
	}
}
