package postgres

import _ "embed"

// The statements, each in its file. Parameters are cast in the text, so that their types do not depend on
// how a statement is sent.
var (
	//go:embed sql/insert_idempotency_record.sql
	insertRecordSQL string
	//go:embed sql/insert_idempotency_records.sql
	insertRecordsSQL string
	//go:embed sql/find_idempotency_record.sql
	findRecordSQL string
	//go:embed sql/set_idempotency_result.sql
	setRecordResultSQL string
	//go:embed sql/remove_idempotency_records.sql
	removeRecordsSQL string
	//go:embed sql/count_idempotency_records.sql
	countRecordsSQL string
	//go:embed sql/purge_idempotency_records.sql
	purgeRecordsSQL string

	//go:embed sql/lock_index.sql
	lockIndexSQL string
	//go:embed sql/stage_split.sql
	stageSplitSQL string
	//go:embed sql/stage_splits.sql
	stageSplitsSQL string
	//go:embed sql/stage_splits_create_only.sql
	createOnlySQL string
	//go:embed sql/split_states.sql
	splitStatesSQL string
	//go:embed sql/publish_split.sql
	publishSplitSQL string
	//go:embed sql/publish_split_or_fail.sql
	publishSplitOrFailSQL string
	//go:embed sql/publish_splits.sql
	publishSplitsSQL string
	//go:embed sql/lock_shards.sql
	lockShardsSQL string
	//go:embed sql/publish_shards.sql
	publishShardsSQL string
	//go:embed sql/lock_splits.sql
	lockSplitsSQL string
	//go:embed sql/move_splits.sql
	moveSplitsSQL string
	//go:embed sql/mark_splits.sql
	markSplitsSQL string
	//go:embed sql/delete_splits.sql
	deleteSplitsSQL string
	//go:embed sql/unmarked_splits.sql
	unmarkedSplitsSQL string

	//go:embed sql/create_delete_task.sql
	createDeleteTaskSQL string
	//go:embed sql/delete_opstamp_floor.sql
	deleteOpstampFloorSQL string
	//go:embed sql/find_index_uid.sql
	findIndexUIDSQL string
	//go:embed sql/lock_delete_tasks.sql
	lockDeleteTasksSQL string
	//go:embed sql/raise_delete_opstamp_floor.sql
	raiseDeleteOpstampFloorSQL string
	//go:embed sql/last_delete_opstamp.sql
	lastDeleteOpstampSQL string
	//go:embed sql/list_delete_tasks.sql
	listDeleteTasksSQL string
	//go:embed sql/update_delete_opstamp.sql
	updateDeleteOpstampSQL string

	//go:embed sql/lock_indexes.sql
	lockIndexesSQL string
	//go:embed sql/open_shards.sql
	openShardsSQL string
	//go:embed sql/find_shards.sql
	findShardsSQL string
	//go:embed sql/acquire_shards.sql
	acquireShardsSQL string
	//go:embed sql/delete_shards.sql
	deleteShardsSQL string
	//go:embed sql/prune_shards.sql
	pruneShardsSQL string
	//go:embed sql/list_shards.sql
	listShardsSQL string

	//go:embed sql/insert_index.sql
	insertIndexSQL string
	//go:embed sql/select_index_for_update.sql
	selectIndexForUpdateSQL string
	//go:embed sql/update_index.sql
	updateIndexSQL string
	//go:embed sql/find_indexes.sql
	findIndexesSQL string
	//go:embed sql/list_indexes.sql
	listIndexesSQL string
	//go:embed sql/list_index_uids.sql
	listIndexUIDsSQL string
	//go:embed sql/index_stats.sql
	indexStatsSQL string

	//go:embed sql/lock_whole_index.sql
	lockWholeIndexSQL string
	//go:embed sql/lock_shards_of_source.sql
	lockShardsOfSourceSQL string
	//go:embed sql/delete_shards_of_source.sql
	deleteShardsOfSourceSQL string
	//go:embed sql/lock_shards_of_index.sql
	lockShardsOfIndexSQL string
	//go:embed sql/lock_splits_of_index.sql
	lockSplitsOfIndexSQL string
	//go:embed sql/lock_metrics_splits_of_index.sql
	lockMetricsSplitsOfIndexSQL string
	//go:embed sql/lock_sketch_splits_of_index.sql
	lockSketchSplitsOfIndexSQL string
	//go:embed sql/delete_metrics_splits_of_index.sql
	deleteMetricsSplitsOfIndexSQL string
	//go:embed sql/delete_index.sql
	deleteIndexSQL string

	//go:embed sql/insert_index_template.sql
	insertIndexTemplateSQL string
	//go:embed sql/upsert_index_template.sql
	upsertIndexTemplateSQL string
	//go:embed sql/select_index_template.sql
	selectIndexTemplateSQL string
	//go:embed sql/list_index_templates.sql
	listIndexTemplatesSQL string
	//go:embed sql/delete_index_templates.sql
	deleteIndexTemplatesSQL string

	//go:embed sql/select_cluster_identity.sql
	selectClusterIdentitySQL string
	//go:embed sql/insert_cluster_identity.sql
	insertClusterIdentitySQL string

	//go:embed sql/database_settings.sql
	databaseSettingsSQL string
	//go:embed sql/schema_state.sql
	schemaStateSQL string
	//go:embed sql/list_migrations.sql
	listMigrationsSQL string
	//go:embed sql/splits_indexes.sql
	splitsIndexesSQL string
	//go:embed sql/count_bare_index_uids.sql
	countBareIndexUIDsSQL string
	//go:embed sql/schema.sql
	schemaSQL string
)
