-- Inserts splits as staged and overwrites staged ones; all or nothing.
-- Locks: 1. the index row, key share; 2. the splits, in the order of the arrays, which are sorted by split id.
-- $1 index uid, then one array for each column
WITH target AS MATERIALIZED (
    SELECT index_uid
    FROM indexes
    WHERE index_uid = $1::text
    FOR KEY SHARE
),
staged AS (
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
    -- Read before the first row, so the index row is locked before any split.
    WHERE $1::text = (SELECT index_uid FROM target)
    ORDER BY new.position
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
    WHERE present.split_state IN ('Staged', 'New')
    RETURNING 1
)
-- A split that could not be written makes this a division by zero, which undoes the others in the same
-- round trip. The caller then looks which one it was.
SELECT 1 / (count(*) = cardinality($2::text[]))::int
FROM staged
