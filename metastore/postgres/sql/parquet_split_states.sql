-- The index and the state of each Parquet split that exists, in whatever index; one row without split id if the index
-- exists. The table's name is replaced for the other kind. For the look-ups see split_states.sql.
-- $1 index uid, $2 split ids
SELECT
    found.split_id,
    found.split_state,
    found.index_uid
FROM unnest($2::text[]) AS wanted (split_id)
CROSS JOIN LATERAL (
    SELECT
        metrics_splits.split_id,
        metrics_splits.split_state,
        metrics_splits.index_uid
    FROM metrics_splits
    WHERE metrics_splits.split_id = wanted.split_id
    LIMIT 1
) AS found
UNION ALL
SELECT
    NULL,
    NULL,
    index_uid
FROM indexes
WHERE index_uid = $1::text
