-- Marks splits that are not marked yet. Follows lock_index.sql. Locks the splits by split id, and changes only
-- what it locked.
-- $1 index uid, $2 split ids
WITH locked AS MATERIALIZED (
    SELECT split_id
    FROM splits
    WHERE
        index_uid = $1::text
        AND split_id = ANY ($2::text[])
        AND split_state <> 'MarkedForDeletion'
    ORDER BY split_id COLLATE "C"
    FOR NO KEY UPDATE
)
UPDATE splits
SET
    split_state = 'MarkedForDeletion',
    update_timestamp = date_trunc('second', now() AT TIME ZONE 'utc')
FROM locked
WHERE
    splits.index_uid = $1::text
    AND splits.split_id = locked.split_id
