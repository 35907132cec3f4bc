-- Follows lock_whole_index.sql in the same transaction.
-- $1 index uid, $2 source id
SELECT 1
FROM shards
WHERE
    index_uid = $1::text
    AND source_id = $2::text
ORDER BY shard_id COLLATE "C"
FOR UPDATE
