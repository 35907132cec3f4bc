-- Inserts one split as staged or overwrites a staged one.
-- Locks: the split, or of one that is new the key and then, by the foreign key, the index row, key share. A deletion of
-- the index that holds that row already waits for no split that is not there yet.
-- A split that is not staged makes it fail with a division by zero, so that the record of the call is undone in the same
-- round trip.
-- $1 index uid, $2 split id, then one value for each column
INSERT INTO splits AS present (
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
VALUES (
    $1::text,
    $2::text,
    'Staged',
    $3::bigint,
    $4::bigint,
    $5::text::text[],
    $6::text,
    date_trunc('second', now() AT TIME ZONE 'utc'),
    date_trunc('second', now() AT TIME ZONE 'utc'),
    $7::bigint,
    $8::timestamp,
    $9::text
)
ON CONFLICT (index_uid, split_id) DO UPDATE
SET
    split_state = excluded.split_state,
    time_range_start = excluded.time_range_start,
    time_range_end = excluded.time_range_end,
    tags = excluded.tags,
    split_metadata_json = excluded.split_metadata_json,
    create_timestamp = excluded.create_timestamp,
    update_timestamp = excluded.update_timestamp,
    delete_opstamp = excluded.delete_opstamp,
    maturity_timestamp = excluded.maturity_timestamp,
    node_id = excluded.node_id
WHERE 1 / ((present.split_state IN ('Staged', 'New')) IS TRUE)::int = 1
