-- Follows lock_shards.sql in the same transaction. Locks the splits by split id; for the look-ups see publish_splits.sql.
-- Answers the state of each that exists.
-- $1 index uid, $2 split ids
SELECT
    found.split_id,
    found.split_state
FROM (
    SELECT split_id
    FROM unnest($2::text[]) AS ids (split_id)
    GROUP BY split_id
    ORDER BY split_id COLLATE "C"
) AS wanted
CROSS JOIN LATERAL (
    SELECT
        splits.split_id,
        splits.split_state
    FROM splits
    WHERE
        splits.index_uid = $1::text
        AND splits.split_id = wanted.split_id
    LIMIT 1
    FOR NO KEY UPDATE
) AS found
