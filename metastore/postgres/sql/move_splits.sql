-- Publishes and marks splits. Follows lock_splits.sql, which has locked them, in the same transaction.
-- $1 index uid, $2 split ids, $3 their new states, $4 those among them that are published, perhaps to be marked at once
WITH moved AS MATERIALIZED (
    SELECT
        $1::text AS index_uid,
        ids.split_id,
        ids.split_state,
        published.split_id IS NOT NULL AS is_published
    -- From subqueries, for the planner; see publish_splits.sql.
    FROM unnest((SELECT $2::text[]), (SELECT $3::text[])) AS ids (split_id, split_state)
    LEFT JOIN unnest((SELECT $4::text[])) AS published (split_id)
        ON published.split_id = ids.split_id
)
UPDATE splits
SET
    split_state = moved.split_state,
    update_timestamp = date_trunc('second', now() AT TIME ZONE 'utc'),
    publish_timestamp = CASE
        WHEN moved.is_published THEN date_trunc('second', now() AT TIME ZONE 'utc')
        ELSE splits.publish_timestamp
    END
FROM moved
WHERE
    splits.index_uid = moved.index_uid
    AND splits.split_id = moved.split_id
