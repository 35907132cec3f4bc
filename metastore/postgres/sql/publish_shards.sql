-- Makes progress in shards. Follows lock_shards.sql, which has locked them, in the same transaction.
-- $1 index uid, $2 source ids, $3 shard ids, $4 positions
WITH progress AS MATERIALIZED (
    SELECT
        $1::text AS index_uid,
        source_id,
        shard_id,
        position
    FROM unnest($2::text[], $3::text[], $4::text[]) AS positions (source_id, shard_id, position)
)
UPDATE shards
SET
    publish_position_inclusive = progress.position,
    -- A shard that is at its end is closed, and is never open again.
    shard_state = CASE WHEN starts_with(progress.position, '~') THEN 'closed' ELSE shards.shard_state END,
    update_timestamp = date_trunc('second', now() AT TIME ZONE 'utc')
FROM progress
WHERE
    shards.index_uid = progress.index_uid
    AND shards.source_id = progress.source_id
    AND shards.shard_id = progress.shard_id
