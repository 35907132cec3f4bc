-- Answers the shards that exist, with the number of the id that each was found by, from 1.
-- $1 index uids, $2 source ids, $3 shard ids
SELECT
    wanted.position,
    found.shard_id,
    found.leader_id,
    found.shard_state,
    found.publish_position_inclusive,
    found.publish_token,
    found.doc_mapping_uid,
    found.update_timestamp
FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS wanted (index_uid, source_id, shard_id, position)
-- For the limit see split_states.sql.
CROSS JOIN LATERAL (
    SELECT
        shards.shard_id,
        shards.leader_id,
        shards.shard_state,
        shards.publish_position_inclusive,
        shards.publish_token,
        shards.doc_mapping_uid,
        shards.update_timestamp
    FROM shards
    WHERE
        shards.index_uid = wanted.index_uid
        AND shards.source_id = wanted.source_id
        AND shards.shard_id = wanted.shard_id
    LIMIT 1
) AS found
