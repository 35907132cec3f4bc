-- Records a token in the shards that it may take over. Locks them by shard id, and changes only what it locked.
-- Answers these shards as they are then.
-- $1 index uid, $2 source id, $3 shard ids, $4 token
WITH acquired AS MATERIALIZED (
    SELECT
        found.index_uid,
        found.source_id,
        found.shard_id,
        found.leader_id,
        found.shard_state,
        found.publish_position_inclusive,
        found.doc_mapping_uid,
        found.update_timestamp
    FROM (
        SELECT shard_id
        FROM unnest($3::text[]) AS ids (shard_id)
        GROUP BY shard_id
        ORDER BY shard_id COLLATE "C"
    ) AS wanted
    -- The look-ups, and with them the locks, follow the order of the ids. For the limit see split_states.sql.
    CROSS JOIN LATERAL (
        SELECT
            shards.index_uid,
            shards.source_id,
            shards.shard_id,
            shards.leader_id,
            shards.shard_state,
            shards.publish_position_inclusive,
            shards.doc_mapping_uid,
            shards.update_timestamp
        FROM shards
        WHERE
            shards.index_uid = $1::text
            AND shards.source_id = $2::text
            AND shards.shard_id = wanted.shard_id
            -- Shard.MayAcquire says the same.
            AND (
                shards.publish_token IS NULL
                OR shards.publish_token = ''
                OR strpos($4::text, '/') > 0
                OR strpos(shards.publish_token, '/') > 0
                OR $4::text >= shards.publish_token COLLATE "C"
            )
        LIMIT 1
        FOR NO KEY UPDATE
    ) AS found
),
changed AS (
    UPDATE shards
    SET publish_token = $4::text
    FROM acquired
    WHERE
        shards.index_uid = acquired.index_uid
        AND shards.source_id = acquired.source_id
        AND shards.shard_id = acquired.shard_id
        AND shards.publish_token IS DISTINCT FROM $4::text
)
SELECT
    0::bigint,
    shard_id,
    leader_id,
    shard_state,
    publish_position_inclusive,
    $4::text,
    doc_mapping_uid,
    update_timestamp
FROM acquired
ORDER BY shard_id COLLATE "C"
