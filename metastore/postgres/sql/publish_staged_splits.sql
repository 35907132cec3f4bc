-- Publishes staged splits, all or nothing: if one is not staged it makes a division by zero. Follows lock_index.sql. Locks
-- the splits by split id; for the look-ups see publish_splits.sql.
-- $1 index uid, $2 split ids, each once
WITH locked AS MATERIALIZED (
    SELECT
        found.index_uid,
        found.split_id,
        found.split_state
    FROM (
        SELECT split_id
        FROM unnest((SELECT $2::text[])) AS ids (split_id)
        GROUP BY split_id
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
        FOR NO KEY UPDATE
    ) AS found
),
published AS (
    UPDATE splits
    SET
        split_state = 'Published',
        update_timestamp = date_trunc('second', now() AT TIME ZONE 'utc'),
        publish_timestamp = date_trunc('second', now() AT TIME ZONE 'utc')
    FROM locked
    WHERE
        splits.index_uid = locked.index_uid
        AND splits.split_id = locked.split_id
        AND locked.split_state = 'Staged'
    RETURNING 1
)
SELECT 1 / (count(*) = cardinality($2::text[]))::int
FROM published
