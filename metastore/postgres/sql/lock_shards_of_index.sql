-- Follows lock_whole_index.sql.
-- $1 index uid
SELECT count(*)
FROM (
    SELECT 1
    FROM shards
    WHERE index_uid = $1::text
    ORDER BY source_id COLLATE "C", shard_id COLLATE "C"
    FOR UPDATE
) AS locked
