-- Inserts the splits that are absent. It gets those that were absent a moment ago; one that has been inserted since is
-- neither locked nor changed.
-- Locks: 1. the index row, key share; 2. the new keys, in the order of the arrays, which are sorted by split id.
-- Answers the splits that it inserted.
-- $1 index uid, then one array for each column
WITH target AS MATERIALIZED (
    SELECT index_uid
    FROM indexes
    WHERE index_uid = $1::text
    FOR KEY SHARE
)
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
-- Read before the first row, so the index row is locked before any key.
WHERE $1::text = (SELECT index_uid FROM target)
ORDER BY new.position
ON CONFLICT (index_uid, split_id) DO NOTHING
RETURNING split_id
