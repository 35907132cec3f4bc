-- Publishes staged splits and marks published ones that they replace, if all are in the state that this needs.
-- Follows lock_index.sql. Locks the splits by split id, and changes only what it locked.
-- Answers the state that each existing split had. New is what early releases of the peer called Staged.
-- $1 index uid, $2 all split ids, $3 those among them to publish
WITH locked AS MATERIALIZED (
    SELECT
        found.index_uid,
        found.split_id,
        found.split_state
    FROM (
        -- From a subquery the planner does not learn the number of ids and plans for a few. Where statistics are missing,
        -- it would for thousands rather read all splits of the index than look each up, here or in the update.
        SELECT split_id
        FROM unnest((SELECT $2::text[])) AS ids (split_id)
        -- An id in both lists counts as one split, so the number of ids is not reached and nothing changes.
        GROUP BY split_id
        ORDER BY split_id COLLATE "C"
    ) AS wanted
    -- See split_states.sql. The look-ups, and with them the locks, follow the order of the ids.
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
changed AS (
    UPDATE splits
    SET
        split_state = CASE WHEN locked.split_state IN ('Staged', 'New') THEN 'Published' ELSE 'MarkedForDeletion' END,
        update_timestamp = date_trunc('second', now() AT TIME ZONE 'utc'),
        publish_timestamp = CASE
            WHEN locked.split_state IN ('Staged', 'New') THEN date_trunc('second', now() AT TIME ZONE 'utc')
            ELSE splits.publish_timestamp
        END
    FROM locked
    WHERE
        -- Not $1, with which an index on the index uid alone would do.
        splits.index_uid = locked.index_uid
        AND splits.split_id = locked.split_id
        -- Read to its end before the first change.
        AND cardinality($2::text[]) = (
            SELECT count(*)
            FROM locked
            WHERE CASE
                WHEN split_id = ANY ($3::text[]) THEN split_state IN ('Staged', 'New')
                ELSE split_state = 'Published'
            END
        )
)
SELECT
    split_id,
    split_state
FROM locked
