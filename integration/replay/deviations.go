package replay

// deviation is a set of recorded steps that we answer otherwise than the peer, on purpose.
type deviation struct {
	rule     string // id of the rule, in rules
	scenario string
	steps    []int   // from 1
	backend  Backend // empty: both
	want     want
}

func (d *deviation) backends() []Backend {
	if d.backend == "" {
		return []Backend{File, Postgres}
	}
	return []Backend{d.backend}
}

func deviations() []deviation {
	invalidArgument := refused("InvalidArgument")
	failedPrecondition := func(splitIDs string) want {
		return failed("InvalidArgument", `{"FailedPrecondition":{"entity":{"splits":{"split_ids":[`+splitIDs+`]}}}}`)
	}
	const (
		config     = "0/indexMetadataSerializedJson/$json/index_config/"
		checkpoint = "0/indexMetadataSerializedJson/$json/checkpoint/"
		parquet    = "0/splitsSerializedJson/"
		split      = "0/splitsSerializedJson/$json/"
	)
	return []deviation{
		{"indexes H36", "index-create-doc-mapping", []int{17}, "", failed("Internal", `{"JsonDeserializeError":{"struct_name":"quickwit_config::index_config::IndexConfig"}}`)},
		{"splits H44", "split-stage-types", []int{10}, "", failed("Internal", `{"JsonDeserializeError":{"struct_name":"alloc::vec::Vec<quickwit_metastore::split_metadata::SplitMetadata>"}}`)},
		{"splits H44", "split-stage-types", []int{30}, "", answered(`[]`)},

		{"indexes H1", "index-delete-stale", []int{2, 3, 5, 6, 10, 11, 12, 13}, File, as(Postgres)},
		{"indexes H7", "index-delete-stale", []int{17}, File, as(Postgres)},
		{"indexes H7", "index-metadata", []int{20, 21}, File, as(Postgres)},

		{"indexes H4", "index-indexes-metadata", []int{19, 20}, Postgres, as(File)},
		{"indexes H10", "index-metadata", []int{12, 14, 15}, File, as(Postgres)},
		{"indexes both", "index-indexes-metadata", []int{13, 14, 15}, Postgres, as(File)},
		{"indexes once", "index-indexes-metadata", []int{17, 18}, File, as(Postgres)},

		{"undecodable", "shard-missing-fields", []int{12, 13}, "", invalidArgument},
		{"indexes H5", "shard-missing-fields", []int{8}, "", invalidArgument},
		{"indexes H5", "shard-open-errors", []int{3, 4, 5, 6, 23, 25}, Postgres, as(File)},
		{"indexes H20", "shard-missing-fields", []int{5}, Postgres, as(File)},
		{"indexes H20", "shard-open-errors", []int{8, 12, 16}, Postgres, as(File)},
		{"indexes H20", "shard-open-errors", []int{9}, "", edited(as(Postgres), "0/subresponses/0/shards", "")},
		{"indexes H16", "shard-source-life", []int{11, 13}, File, as(Postgres)},
		{"indexes H21", "shard-delete", []int{17, 18}, Postgres, as(File)},
		{"indexes H24", "shard-list", []int{21}, Postgres, as(File)},
		{"indexes H26", "shard-reopen", []int{10, 11}, File, as(Postgres)},
		{"shards of nothing", "index-delete-leftovers", []int{6}, File, as(Postgres)},
		{"shards of nothing", "shard-acquire-edges", []int{3, 4, 5, 6, 7, 23}, File, as(Postgres)},
		{"shards of nothing", "shard-delete", []int{20, 21, 22}, File, as(Postgres)},
		{"shards of nothing", "shard-list", []int{18, 19, 20}, File, as(Postgres)},
		{"shards of nothing", "shard-missing-fields", []int{6}, File, as(Postgres)},
		{"shards of nothing", "shard-open-errors", []int{10, 11, 14, 17}, File, as(Postgres)},
		{"shards of nothing", "shard-prune", []int{23, 24, 25}, File, as(Postgres)},
		{"shards once", "shard-acquire-edges", []int{8, 12}, File, as(Postgres)},
		{"shard state 0", "shard-list", []int{16, 17}, File, as(Postgres)},
		{"splits H10", "shard-publish", []int{12, 20}, "", invalidArgument},
		{"splits H10", "shard-publish", []int{21}, "", edited(as(Postgres), "0/subresponses/0/shards/0/publishPositionInclusive/position", `"fjAwMDAwMDAwMDAwMDAwMDAwMDAx"`)},
		{"splits H11", "shard-publish-multi", []int{6}, Postgres, as(File)},
		{"splits H11", "shard-publish-tokens", []int{21, 22}, File, as(Postgres)},
		{"splits H11", "split-publish-tokens", []int{4, 6}, File, as(Postgres)},
		{"splits H11", "split-publish-tokens", []int{21}, Postgres, as(File)},
		{"templates' text", "index-delete-leftovers", []int{23}, Postgres, as(File)},

		{"indexes H9", "index-update-unvalidated", []int{2, 8, 14}, "", invalidArgument},
		{"indexes H9", "index-update-unvalidated", []int{3}, "", edited(as(File), config+"retention", "null")},
		{"indexes H9", "index-update-unvalidated", []int{4, 5}, Postgres, as(File)},
		{"indexes H9", "index-update-unvalidated", []int{9}, "", edited(as(File), config+"search_settings/default_search_fields", "[]")},
		{"indexes H9", "index-update-unvalidated", []int{10}, "", edited(as(File), "0/indexesMetadataJsonZstd/$zstd_json/0/index_config/search_settings/default_search_fields", "[]")},
		{"indexes H9", "index-update-unvalidated", []int{15}, "", edited(as(File), config+"indexing_settings/merge_policy/max_merge_factor", "12")},
		{"indexes H9", "index-update-unvalidated", []int{16}, Postgres, as(File)},
		{"indexes H9", "index-update-unvalidated", []int{19, 23}, "", invalidArgument},
		{"indexes H9", "index-update-unvalidated", []int{20, 24}, "", edited(as(File), config+"retention", "null")},

		{"indexes H12", "index-list-bad-patterns", []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 27}, Postgres, as(File)},
		{"indexes H11", "index-list-wildcards", []int{13}, Postgres, as(File)},
		{"indexes H11", "split-stats", []int{20}, Postgres, as(File)},
		{"indexes H12", "split-stats", []int{21, 22, 23, 24, 25, 26, 27, 28}, Postgres, as(File)},

		{"templates' text", "template-create", []int{6, 7, 10, 13, 14, 16, 20, 23}, Postgres, as(File)},
		{"templates' text", "template-find", []int{8, 9, 10, 11, 13, 21}, Postgres, as(File)},
		{"templates' text", "template-full", []int{2, 3, 4, 7, 10, 13, 16, 19, 20}, Postgres, as(File)},
		{"templates' text", "template-invalid-patterns", []int{20, 21}, Postgres, as(File)},
		{"templates' text", "template-list-delete", []int{4, 9, 20}, Postgres, as(File)},
		{"templates' text", "template-negative", []int{3, 8, 11, 16, 21, 23}, Postgres, as(File)},
		{"templates' text", "template-overwrite", []int{3, 5, 7, 13, 15, 18}, Postgres, as(File)},
		{"templates' text", "template-priority", []int{3, 5, 7, 9, 11, 12, 15, 16, 18, 20}, Postgres, as(File)},
		{"templates' text", "template-validation", []int{20}, Postgres, as(File)},
		{"templates' patterns", "template-invalid-patterns", []int{11, 13}, Postgres, as(File)},
		{"templates once", "template-find", []int{19}, "", edited(as(File), "0/matches/1", "")},
		{"indexes H11", "template-negative", []int{12, 15}, Postgres, as(File)},
		{"indexes H27", "template-invalid-patterns", []int{15, 19, 23, 24, 25, 26}, File, as(Postgres)},
		{"indexes H27", "template-validation", []int{1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17}, File, as(Postgres)},
		{"indexes H29", "template-overwrite", []int{6}, File, as(Postgres)},
		{"indexes H29", "template-overwrite", []int{17}, "", edited(as(File), "0/matches/0/templateId", `"tp-ovw-1"`, "0/matches/0/indexTemplateJson/$json/template_id", `"tp-ovw-1"`, "0/matches/0/indexTemplateJson/$json/priority", "10")},
		{"indexes H30", "template-negative", []int{4, 5}, Postgres, as(File)},
		{"indexes H33", "template-negative", []int{20}, Postgres, as(File)},

		{"undecodable", "index-metadata", []int{22}, "", invalidArgument},
		{"undecodable", "split-no-index-uid", []int{25, 26}, "", invalidArgument},

		{"splits H6", "split-stage-huge", []int{5, 6, 10, 12, 14}, "", invalidArgument},
		{"splits H6", "split-stage-huge", []int{7, 8, 11, 15}, File, as(Postgres)},
		{"splits H6", "split-stage-huge", []int{20}, File, edited(as(Postgres), split+"3/create_timestamp", "9223372036854775807")},
		{"splits H43", "split-stage-huge", []int{16}, "", invalidArgument},
		{"splits H43", "split-stage-huge", []int{19}, File, as(Postgres)},
		{"splits H7", "split-stage-batch", []int{17}, File, as(Postgres)},
		{"splits H7", "split-stage-values", []int{18, 19, 20}, File, as(Postgres)},
		{"splits H7", "split-old-incarnation", []int{30}, File, as(Postgres)},
		{"empty stage", "split-stage-batch", []int{4}, File, as(Postgres)},
		{"empty stage", "split-old-incarnation", []int{11}, File, as(Postgres)},
		{"splits H8", "split-stage-batch", []int{6, 7, 9, 10, 15, 20}, Postgres, as(File)},
		{"repeated ids", "split-stage-batch", []int{13}, "", failedPrecondition(`"plain-2"`)},
		{"repeated ids", "split-stage-batch", []int{14}, "", failedPrecondition(`"plain-3"`)},
		{"repeated ids", "split-delete", []int{22}, "", failedPrecondition(`"del-4"`)},
		{"repeated ids", "split-publish-dups", []int{17}, Postgres, as(File)},
		{"repeated ids", "split-publish-dups", []int{3}, File, as(Postgres)},

		{"splits H10", "source-checkpoint", []int{18, 20}, "", invalidArgument},
		{"splits H10", "source-checkpoint", []int{19, 21, 23, 25}, "", edited(as(File), checkpoint+"kafka-a/00000000000000000000", `"00000000000000000061"`)},
		{"splits H10", "source-checkpoint-refused", []int{10}, "", invalidArgument},
		{"splits H10", "split-publish-checkpoint", []int{18, 19}, "", invalidArgument},
		{"splits H10", "split-publish-checkpoint", []int{25}, "", edited(as(File), checkpoint+"src/p1", `"00000000000000000520"`)},

		{"splits H11", "shard-publish", []int{3}, Postgres, as(File)},
		{"splits H11", "source-update-checkpoint", []int{12}, Postgres, as(File)},
		{"splits H11", "split-publish-shards", []int{3}, Postgres, as(File)},

		{"splits H13", "split-no-index-uid", []int{24}, Postgres, as(File)},
		{"splits H13", "split-unknown-index", []int{11}, Postgres, as(File)},
		{"splits H13", "split-old-incarnation", []int{14, 15}, Postgres, as(File)},

		{"splits H14", "split-publish-dups", []int{5, 6, 8, 9, 10, 11, 21, 22, 23}, File, as(Postgres)},
		{"splits H14", "split-publish-replace", []int{2}, File, failed("NotFound", `{"NotFound":{"splits":{"split_ids":["rep-x","rep-y"]}}}`)},
		{"splits H14", "split-publish-replace", []int{17}, File, as(Postgres)},

		{"splits H6", "split-update-opstamp", []int{24}, "", invalidArgument},
		{"splits H6", "split-update-opstamp", []int{25, 27}, File, as(Postgres)},
		{"splits H6 in reads", "split-stale", []int{27, 28}, Postgres, as(File)},
		{"splits H6 in reads", "split-delete-tasks", []int{15}, Postgres, as(File)},
		{"splits H13", "split-old-incarnation", []int{27}, Postgres, as(File)},
		{"splits H25", "split-update-opstamp", []int{3, 13, 14, 15, 16, 17, 21}, File, as(Postgres)},
		{"splits H25", "split-old-incarnation", []int{21}, File, as(Postgres)},
		{"splits H25", "split-unknown-index", []int{21}, File, as(Postgres)},
		{"splits H41", "split-list-ranges", []int{29}, Postgres, as(File)},
		{"tasks of nothing", "split-delete-tasks", []int{20, 21, 27}, File, as(Postgres)},
		{"tasks of nothing", "split-old-incarnation", []int{22, 24}, File, as(Postgres)},
		{"tasks of nothing", "split-unknown-index", []int{23, 26, 27}, File, as(Postgres)},

		{"splits H42", "split-stage-values", []int{8}, "", answered(`[]`)},
		{"json H4", "split-stage-values", []int{7}, "", edited(as(Postgres), split+"5/colour", `"red"`, split+"5/nested", `{"a":[1,2]}`)},

		{"splits H19", "split-list-mature", []int{17, 18, 19, 20, 25}, File, as(Postgres)},
		{"splits H20", "split-list-combo", []int{7}, File, as(Postgres)},
		{"splits H20", "split-list-time-bounds", []int{18, 19, 20, 21, 22}, File, as(Postgres)},
		{"splits H21", "split-list-tags", []int{16, 23}, File, edited(as(Postgres), split+"3/create_timestamp", "0")},
		{"splits H22", "split-list-combo", []int{20}, File, as(Postgres)},
		{"splits H23", "split-list-uid-order", []int{7, 8, 9, 10, 11, 12, 13}, File, as(Postgres)},
		{"uid twice", "split-list-ids", []int{23}, File, as(Postgres)},

		{"parquet entity", "split-metrics", []int{12, 20}, File, as(Postgres)},
		{"parquet entity", "split-metrics-edge", []int{5}, File, as(Postgres)},
		{"parquet entity", "split-sketch", []int{12, 20}, File, as(Postgres)},
		{"parquet unknown index", "split-unknown-index-parquet", []int{6, 7, 9, 15, 16, 18}, File, as(Postgres)},
		{"splits H31", "split-metrics-edge", []int{6}, Postgres, as(File)},
		{"splits H8 parquet", "split-metrics-edge", []int{7, 8}, Postgres, as(File)},
		{"splits H32", "split-metrics-edge", []int{22}, "", invalidArgument},
		{"splits H32", "split-metrics-edge", []int{23}, File, as(Postgres)},
		{"splits H32", "split-metrics-edge", []int{24}, Postgres, as(File)},
		{"splits H33", "split-metrics-edge", []int{9, 10, 11}, Postgres, as(File)},
		{"splits H33", "split-metrics-edge", []int{12}, "", failed("NotFound", `{"NotFound":{"splits":{"split_ids":["e-none"]}}}`)},
		{"splits H33", "split-metrics-edge", []int{13}, File, as(Postgres)},
		{"splits H33", "split-metrics-edge", []int{14}, "", edited(as(File), parquet+"3/$json/state", `"Staged"`, parquet+"4/$json/state", `"Staged"`, parquet+"5/$json/state", `"Staged"`)},
		{"splits H34", "split-metrics-list", []int{29, 30}, "", invalidArgument},
		{"splits H34", "split-sketch-list", []int{23}, "", invalidArgument},
		{"splits H35", "split-metrics-list", []int{10}, Postgres, as(File)},
		{"splits H35", "split-sketch-list", []int{10}, Postgres, as(File)},
		{"splits H36", "split-metrics-list", []int{26}, File, as(Postgres)},
	}
}
