-- Removes the shards that are at their end, or all of them if forced. Locks the shards by shard id, and removes only what
-- it locked. For the look-ups see find_shards.sql.
-- Answers those that are not at their end and stay.
-- $1 index uid, $2 source id, $3 shard ids, $4 whether forced
WITH locked AS MATERIALIZED (
    SELECT
        found.index_uid,
        found.source_id,
        found.shard_id,
        $4::boolean OR starts_with(found.publish_position_inclusive, '~') AS removable
    FROM (
        SELECT shard_id
        FROM unnest($3::text[]) AS ids (shard_id)
        GROUP BY shard_id
        ORDER BY shard_id COLLATE "C"
    ) AS wanted
    CROSS JOIN LATERAL (
        SELECT
            shards.index_uid,
            shards.source_id,
            shards.shard_id,
            shards.publish_position_inclusive
        FROM shards
        WHERE
            shards.index_uid = $1::text
            AND shards.source_id = $2::text
            AND shards.shard_id = wanted.shard_id
        LIMIT 1
        FOR UPDATE
    ) AS found
),
removed AS (
    DELETE FROM shards
    USING locked
    WHERE
        shards.index_uid = locked.index_uid
        AND shards.source_id = locked.source_id
        AND shards.shard_id = locked.shard_id
        AND locked.removable
)
SELECT shard_id
FROM locked
WHERE NOT removable
