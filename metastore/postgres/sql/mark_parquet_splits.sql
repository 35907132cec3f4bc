-- Marks Parquet splits that are not marked yet. The table's name is replaced for the other kind. Locks the splits by split
-- id, and changes only what it locked; nothing else, so it needs no lock on the index.
-- $1 index uid, $2 split ids
WITH locked AS MATERIALIZED (
    SELECT found.split_id
    FROM (
        SELECT split_id
        FROM unnest($2::text[]) AS ids (split_id)
        ORDER BY split_id COLLATE "C"
    ) AS wanted
    CROSS JOIN LATERAL (
        SELECT metrics_splits.split_id
        FROM metrics_splits
        WHERE
            metrics_splits.split_id = wanted.split_id
            AND metrics_splits.index_uid = $1::text
            AND metrics_splits.split_state <> 'MarkedForDeletion'
        LIMIT 1
        FOR NO KEY UPDATE
    ) AS found
)
UPDATE metrics_splits
SET
    split_state = 'MarkedForDeletion',
    update_timestamp = date_trunc('second', now() AT TIME ZONE 'utc')
FROM locked
WHERE metrics_splits.split_id = locked.split_id
