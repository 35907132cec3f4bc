-- Inserts the splits that are absent. Existing rows are read, never locked. If all exist nothing is locked
-- at all, not even the index row.
-- Locks: 1. the index row, key share; 2. the new keys, in the order of the arrays, which are sorted by split id.
-- Answers the state of each split that existed before, NULL for each that was inserted. A split that another
-- transaction inserted meanwhile is in neither set. One row without split id says whether the index exists.
-- $1 index uid, then one array for each column
WITH present AS MATERIALIZED (
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
),
target AS MATERIALIZED (
    SELECT index_uid
    FROM indexes
    WHERE
        index_uid = $1::text
        AND (SELECT count(*) FROM present) < cardinality($2::text[])
    FOR KEY SHARE
),
inserted AS (
    INSERT INTO splits (
        index_uid,
        split_id,
        split_state,
        time_range_start,
        time_range_end,
        tags,
        split_metadata_json,
        create_timestamp,
        update_timestamp,
        delete_opstamp,
        maturity_timestamp,
        node_id
    )
    SELECT
        $1::text,
        new.split_id,
        'Staged',
        new.time_range_start,
        new.time_range_end,
        new.tags::text[],
        new.split_metadata_json,
        date_trunc('second', now() AT TIME ZONE 'utc'),
        date_trunc('second', now() AT TIME ZONE 'utc'),
        new.delete_opstamp,
        new.maturity_timestamp,
        new.node_id
    FROM unnest(
        $2::text[],
        $3::bigint[],
        $4::bigint[],
        $5::text[],
        $6::text[],
        $7::bigint[],
        $8::timestamp[],
        $9::text[]
    ) WITH ORDINALITY AS new (
        split_id,
        time_range_start,
        time_range_end,
        tags,
        split_metadata_json,
        delete_opstamp,
        maturity_timestamp,
        node_id,
        position
    )
    WHERE
        -- Read before the first row, so the index row is locked before any key.
        $1::text = (SELECT index_uid FROM target)
        AND new.split_id NOT IN (SELECT present.split_id FROM present)
    ORDER BY new.position
    ON CONFLICT (index_uid, split_id) DO NOTHING
    RETURNING split_id
)
SELECT
    split_id,
    split_state
FROM present
UNION ALL
SELECT
    split_id,
    NULL
FROM inserted
UNION ALL
SELECT
    NULL,
    index_uid
FROM indexes
WHERE index_uid = $1::text
