-- The state of each split that exists; one row without split id if the index exists.
-- $1 index uid, $2 split ids
SELECT
    found.split_id,
    found.split_state
FROM unnest($2::text[]) AS wanted (split_id)
-- The limit keeps this a look-up for each id. Where statistics are missing, the planner would rather read all
-- splits of the index.
CROSS JOIN LATERAL (
    SELECT
        splits.split_id,
        splits.split_state
    FROM splits
    WHERE
        splits.index_uid = $1::text
        AND splits.split_id = wanted.split_id
    LIMIT 1
) AS found
UNION ALL
SELECT
    NULL,
    index_uid
FROM indexes
WHERE index_uid = $1::text
