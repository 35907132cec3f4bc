-- Nothing unless the table is estimated to hold half of the limit, so that a small table is not counted.
-- $1 limit
SELECT
    principal,
    count(*)
FROM holdfast.idempotency_records
WHERE (
    SELECT greatest(reltuples, n_live_tup) >= $1::bigint / 2
    FROM pg_class
    LEFT JOIN pg_stat_user_tables ON relid = pg_class.oid
    WHERE pg_class.oid = 'holdfast.idempotency_records'::regclass
)
GROUP BY principal
