-- The estimate that the database keeps, and the oldest key, which is the first of the index.
SELECT
    coalesce((SELECT n_live_tup FROM pg_stat_user_tables WHERE relid = 'holdfast.idempotency_records'::regclass), 0),
    (SELECT key FROM holdfast.idempotency_records ORDER BY key, principal LIMIT 1)
