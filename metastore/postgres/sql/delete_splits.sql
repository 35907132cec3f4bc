-- Removes splits if all that exist are marked. Follows lock_index.sql. Locks the splits by split id, and removes
-- only what it locked. For the look-ups see publish_splits.sql.
-- Answers the splits that are not marked.
-- $1 index uid, $2 split ids
WITH locked AS MATERIALIZED (
    SELECT
        found.index_uid,
        found.split_id,
        found.split_state
    FROM (
        SELECT split_id
        FROM unnest((SELECT $2::text[])) AS ids (split_id)
        ORDER BY split_id COLLATE "C"
    ) AS wanted
    CROSS JOIN LATERAL (
        SELECT
            splits.index_uid,
            splits.split_id,
            splits.split_state
        FROM splits
        WHERE
            splits.index_uid = $1::text
            AND splits.split_id = wanted.split_id
        LIMIT 1
        FOR UPDATE
    ) AS found
),
removed AS (
    DELETE FROM splits
    USING locked
    WHERE
        splits.index_uid = locked.index_uid
        AND splits.split_id = locked.split_id
        -- Read to its end before the first removal.
        AND 0 = (SELECT count(*) FROM locked WHERE split_state <> 'MarkedForDeletion')
)
SELECT split_id
FROM locked
WHERE split_state <> 'MarkedForDeletion'
