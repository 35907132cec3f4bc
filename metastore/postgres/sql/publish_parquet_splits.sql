-- Publishes staged Parquet splits and marks published ones that they replace, if all are in the state that this needs.
-- The table's name is replaced for the other kind. Follows lock_index.sql, or a stronger lock on the index row and those on
-- shards. Locks the splits by split id, and changes only what it locked. A trigger sets the publish timestamps.
-- Answers the state that each existing split had.
-- $1 index uid, $2 all split ids, $3 those among them to publish
WITH locked AS MATERIALIZED (
    SELECT
        found.split_id,
        found.split_state
    FROM (
        SELECT split_id
        FROM unnest($2::text[]) AS ids (split_id)
        -- An id in both lists counts as one split, so the number of ids is not reached and nothing changes.
        GROUP BY split_id
        ORDER BY split_id COLLATE "C"
    ) AS wanted
    -- The look-ups, and with them the locks, follow the order of the ids.
    CROSS JOIN LATERAL (
        SELECT
            metrics_splits.split_id,
            metrics_splits.split_state
        FROM metrics_splits
        WHERE
            metrics_splits.split_id = wanted.split_id
            AND metrics_splits.index_uid = $1::text
        LIMIT 1
        FOR NO KEY UPDATE
    ) AS found
),
changed AS (
    UPDATE metrics_splits
    SET
        split_state = CASE locked.split_state WHEN 'Staged' THEN 'Published' ELSE 'MarkedForDeletion' END,
        update_timestamp = date_trunc('second', now() AT TIME ZONE 'utc')
    FROM locked
    WHERE
        metrics_splits.split_id = locked.split_id
        -- Read to its end before the first change.
        AND cardinality($2::text[]) = (
            SELECT count(*)
            FROM locked
            WHERE split_state = CASE WHEN split_id = ANY ($3::text[]) THEN 'Staged' ELSE 'Published' END
        )
)
SELECT
    split_id,
    split_state
FROM locked
