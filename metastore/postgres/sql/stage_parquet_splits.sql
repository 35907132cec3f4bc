-- Inserts Parquet splits as staged and overwrites staged ones of the same index; all or nothing. The table's name is
-- replaced for the other kind.
-- Locks: 1. the index row, key share; 2. the splits, in the order of the arrays, which are sorted by split id.
-- $1 index uid, then one array for each column
WITH target AS MATERIALIZED (
    SELECT index_uid
    FROM indexes
    WHERE index_uid = $1::text
    FOR KEY SHARE
),
staged AS (
    INSERT INTO metrics_splits AS present (
        index_uid,
        split_id,
        split_state,
        time_range_start,
        time_range_end,
        window_start,
        window_duration_secs,
        metric_names,
        tag_service,
        tag_env,
        tag_datacenter,
        tag_region,
        tag_host,
        high_cardinality_tag_keys,
        num_rows,
        size_bytes,
        num_merge_ops,
        sort_fields,
        row_keys,
        zonemap_regexes,
        maturity_timestamp,
        split_metadata_json,
        create_timestamp,
        update_timestamp
    )
    SELECT
        $1::text,
        new.split_id,
        'Staged',
        new.time_range_start,
        new.time_range_end,
        new.window_start,
        new.window_duration_secs::integer,
        new.metric_names::text[],
        new.tag_service::text[],
        new.tag_env::text[],
        new.tag_datacenter::text[],
        new.tag_region::text[],
        new.tag_host::text[],
        new.high_cardinality_tag_keys::text[],
        new.num_rows,
        new.size_bytes,
        new.num_merge_ops::integer,
        new.sort_fields,
        decode(new.row_keys, 'hex'),
        new.zonemap_regexes::jsonb,
        new.maturity_timestamp,
        new.split_metadata_json,
        date_trunc('second', now() AT TIME ZONE 'utc'),
        date_trunc('second', now() AT TIME ZONE 'utc')
    FROM unnest(
        $2::text[],
        $3::bigint[],
        $4::bigint[],
        $5::bigint[],
        $6::bigint[],
        $7::text[],
        $8::text[],
        $9::text[],
        $10::text[],
        $11::text[],
        $12::text[],
        $13::text[],
        $14::bigint[],
        $15::bigint[],
        $16::bigint[],
        $17::text[],
        $18::text[],
        $19::text[],
        $20::timestamp[],
        $21::text[]
    ) WITH ORDINALITY AS new (
        split_id,
        time_range_start,
        time_range_end,
        window_start,
        window_duration_secs,
        metric_names,
        tag_service,
        tag_env,
        tag_datacenter,
        tag_region,
        tag_host,
        high_cardinality_tag_keys,
        num_rows,
        size_bytes,
        num_merge_ops,
        sort_fields,
        row_keys,
        zonemap_regexes,
        maturity_timestamp,
        split_metadata_json,
        position
    )
    -- Read before the first row, so the index row is locked before any split.
    WHERE $1::text = (SELECT index_uid FROM target)
    ORDER BY new.position
    ON CONFLICT (split_id) DO UPDATE
    SET
        time_range_start = excluded.time_range_start,
        time_range_end = excluded.time_range_end,
        window_start = excluded.window_start,
        window_duration_secs = excluded.window_duration_secs,
        metric_names = excluded.metric_names,
        tag_service = excluded.tag_service,
        tag_env = excluded.tag_env,
        tag_datacenter = excluded.tag_datacenter,
        tag_region = excluded.tag_region,
        tag_host = excluded.tag_host,
        high_cardinality_tag_keys = excluded.high_cardinality_tag_keys,
        num_rows = excluded.num_rows,
        size_bytes = excluded.size_bytes,
        num_merge_ops = excluded.num_merge_ops,
        sort_fields = excluded.sort_fields,
        row_keys = excluded.row_keys,
        zonemap_regexes = excluded.zonemap_regexes,
        maturity_timestamp = excluded.maturity_timestamp,
        split_metadata_json = excluded.split_metadata_json,
        update_timestamp = excluded.update_timestamp
    WHERE
        present.split_state = 'Staged'
        AND present.index_uid = excluded.index_uid
    RETURNING 1
)
-- A split that could not be written makes this a division by zero, which undoes the others in the same
-- round trip. The caller then looks which one it was.
SELECT 1 / (count(*) = cardinality($2::text[]))::int
FROM staged
