-- Marks splits that are not marked yet. Follows lock_index.sql. Locks the splits by split id, and changes only
-- what it locked. For the look-ups see publish_splits.sql.
-- $1 index uid, $2 split ids
WITH locked AS MATERIALIZED (
    SELECT
        found.index_uid,
        found.split_id
    FROM (
        SELECT split_id
        FROM unnest((SELECT $2::text[])) AS ids (split_id)
        ORDER BY split_id COLLATE "C"
    ) AS wanted
    CROSS JOIN LATERAL (
        SELECT
            splits.index_uid,
            splits.split_id
        FROM splits
        WHERE
            splits.index_uid = $1::text
            AND splits.split_id = wanted.split_id
            AND splits.split_state <> 'MarkedForDeletion'
        LIMIT 1
        FOR NO KEY UPDATE
    ) AS found
)
UPDATE splits
SET
    split_state = 'MarkedForDeletion',
    update_timestamp = date_trunc('second', now() AT TIME ZONE 'utc')
FROM locked
WHERE
    splits.index_uid = locked.index_uid
    AND splits.split_id = locked.split_id
