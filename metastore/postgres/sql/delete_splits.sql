-- Removes splits if all that exist are marked. Follows lock_index.sql. Locks the splits by split id, and removes
-- only what it locked.
-- Answers the splits that are not marked.
-- $1 index uid, $2 split ids
WITH locked AS MATERIALIZED (
    SELECT
        split_id,
        split_state
    FROM splits
    WHERE
        index_uid = $1::text
        AND split_id = ANY ($2::text[])
    ORDER BY split_id COLLATE "C"
    FOR UPDATE
),
removed AS (
    DELETE FROM splits
    USING locked
    WHERE
        splits.index_uid = $1::text
        AND splits.split_id = locked.split_id
        -- Read to its end before the first removal.
        AND 0 = (SELECT count(*) FROM locked WHERE split_state <> 'MarkedForDeletion')
)
SELECT split_id
FROM locked
WHERE split_state <> 'MarkedForDeletion'
