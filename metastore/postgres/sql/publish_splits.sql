-- Publishes staged splits and marks published ones that they replace, if all are in the state that this needs.
-- Follows lock_index.sql. Locks the splits by split id, and changes only what it locked.
-- Answers the state that each existing split had.
-- $1 index uid, $2 all split ids, $3 those among them to publish
WITH locked AS MATERIALIZED (
    SELECT
        split_id,
        split_state
    FROM splits
    WHERE
        index_uid = $1::text
        AND split_id = ANY ($2::text[])
    ORDER BY split_id COLLATE "C"
    FOR NO KEY UPDATE
),
changed AS (
    UPDATE splits
    SET
        split_state = CASE locked.split_state WHEN 'Staged' THEN 'Published' ELSE 'MarkedForDeletion' END,
        update_timestamp = date_trunc('second', now() AT TIME ZONE 'utc'),
        publish_timestamp = CASE locked.split_state
            WHEN 'Staged' THEN date_trunc('second', now() AT TIME ZONE 'utc')
            ELSE splits.publish_timestamp
        END
    FROM locked
    WHERE
        splits.index_uid = $1::text
        AND splits.split_id = locked.split_id
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
