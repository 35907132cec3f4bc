-- The Parquet splits that exist and are not marked. The table's name is replaced for the other kind. For the look-ups see
-- split_states.sql.
-- $1 index uid, $2 split ids
SELECT found.split_id
FROM unnest($2::text[]) AS wanted (split_id)
CROSS JOIN LATERAL (
    SELECT
        metrics_splits.split_id,
        metrics_splits.split_state
    FROM metrics_splits
    WHERE
        metrics_splits.split_id = wanted.split_id
        AND metrics_splits.index_uid = $1::text
    LIMIT 1
) AS found
WHERE found.split_state <> 'MarkedForDeletion'
