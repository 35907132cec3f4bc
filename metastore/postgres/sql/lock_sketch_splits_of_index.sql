-- Follows lock_whole_index.sql.
-- $1 index uid
SELECT count(*)
FROM (
    SELECT 1
    FROM sketch_splits
    WHERE index_uid = $1::text
    ORDER BY split_id COLLATE "C"
    FOR UPDATE
) AS locked
