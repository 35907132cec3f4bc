-- Creates the shards that are absent, if all the indexes and their sources exist. Follows lock_indexes.sql in the same
-- transaction, so none of them can go away meanwhile. Locks all the shards, new or not, in the order of the arrays,
-- which are sorted by index uid, source id and shard id.
-- Answers each index and source that do not both exist, and whether the index does.
-- $1 index uids and $2 source ids, pair by pair; then one array for each column, without the pairs that are twice
WITH missing AS MATERIALIZED (
    SELECT
        wanted.index_uid,
        wanted.source_id,
        indexes.index_uid IS NOT NULL AS index_exists
    FROM unnest($1::text[], $2::text[]) AS wanted (index_uid, source_id)
    LEFT JOIN indexes ON indexes.index_uid = wanted.index_uid
    WHERE
        NOT EXISTS (
            SELECT 1
            FROM json_array_elements(indexes.index_metadata_json::json -> 'sources') AS source (config)
            WHERE source.config ->> 'source_id' = wanted.source_id
        )
),
opened AS (
    INSERT INTO shards AS present (
        index_uid,
        source_id,
        shard_id,
        leader_id,
        shard_state,
        publish_position_inclusive,
        publish_token,
        doc_mapping_uid,
        update_timestamp
    )
    SELECT
        new.index_uid,
        new.source_id,
        new.shard_id,
        new.leader_id,
        'open',
        '',
        new.publish_token,
        new.doc_mapping_uid,
        date_trunc('second', now() AT TIME ZONE 'utc')
    FROM unnest(
        $3::text[],
        $4::text[],
        $5::text[],
        $6::text[],
        $7::text[],
        $8::text[]
    ) WITH ORDINALITY AS new (
        index_uid,
        source_id,
        shard_id,
        leader_id,
        publish_token,
        doc_mapping_uid,
        position
    )
    -- Read before the first row.
    WHERE 0 = (SELECT count(*) FROM missing)
    ORDER BY new.position
    -- Changes nothing. The lock that it takes lets the next statement find the shard.
    ON CONFLICT (index_uid, source_id, shard_id) DO UPDATE
    SET leader_id = present.leader_id
    WHERE FALSE
)
SELECT
    index_uid,
    source_id,
    index_exists
FROM missing
