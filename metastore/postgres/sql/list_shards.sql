-- Answers the shards of each source, with the number of the source in the arrays, from 1.
-- $1 index uids, $2 source ids, $3 states or null for all
SELECT
    wanted.position,
    shards.shard_id,
    shards.leader_id,
    shards.shard_state,
    shards.publish_position_inclusive,
    shards.publish_token,
    shards.doc_mapping_uid,
    shards.update_timestamp
FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS wanted (index_uid, source_id, state, position)
INNER JOIN shards
    ON
        shards.index_uid = wanted.index_uid
        AND shards.source_id = wanted.source_id
        AND (wanted.state IS NULL OR shards.shard_state = wanted.state::shard_state)
ORDER BY
    wanted.position,
    shards.shard_id COLLATE "C"
