-- Follows select_index_for_update.sql in the same transaction. Locks the shards by source id and shard id.
-- $1 index uid, $2 source ids, $3 shard ids
SELECT
    found.source_id,
    found.shard_id,
    found.publish_position_inclusive,
    found.publish_token
FROM (
    SELECT
        source_id,
        shard_id
    FROM unnest($2::text[], $3::text[]) AS ids (source_id, shard_id)
    GROUP BY
        source_id,
        shard_id
    ORDER BY
        source_id COLLATE "C",
        shard_id COLLATE "C"
) AS wanted
-- The look-ups, and with them the locks, follow the order of the ids.
CROSS JOIN LATERAL (
    SELECT
        shards.source_id,
        shards.shard_id,
        shards.publish_position_inclusive,
        shards.publish_token
    FROM shards
    WHERE
        shards.index_uid = $1::text
        AND shards.source_id = wanted.source_id
        AND shards.shard_id = wanted.shard_id
    LIMIT 1
    FOR NO KEY UPDATE
) AS found
