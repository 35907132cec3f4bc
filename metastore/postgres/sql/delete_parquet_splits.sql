-- Removes Parquet splits if all that exist are marked. The table's name is replaced for the other kind. Locks the splits
-- by split id, and removes only what it locked; nothing else, so it needs no lock on the index.
-- Answers the splits that are not marked.
-- $1 index uid, $2 split ids
WITH locked AS MATERIALIZED (
    SELECT
        found.split_id,
        found.split_state
    FROM (
        SELECT split_id
        FROM unnest($2::text[]) AS ids (split_id)
        ORDER BY split_id COLLATE "C"
    ) AS wanted
    CROSS JOIN LATERAL (
        SELECT
            metrics_splits.split_id,
            metrics_splits.split_state
        FROM metrics_splits
        WHERE
            metrics_splits.split_id = wanted.split_id
            AND metrics_splits.index_uid = $1::text
        LIMIT 1
        FOR UPDATE
    ) AS found
),
removed AS (
    DELETE FROM metrics_splits
    USING locked
    WHERE
        metrics_splits.split_id = locked.split_id
        -- Read to its end before the first removal.
        AND 0 = (SELECT count(*) FROM locked WHERE split_state <> 'MarkedForDeletion')
)
SELECT split_id
FROM locked
WHERE split_state <> 'MarkedForDeletion'
