-- Removes old records, unless another server does so now.
-- $1 the smallest key to keep, $2 how many to remove at most
DELETE FROM holdfast.idempotency_records
WHERE (key, principal) IN (
    SELECT
        key,
        principal
    FROM holdfast.idempotency_records
    WHERE
        key < $1::text::uuid
        AND pg_try_advisory_xact_lock(hashtextextended('holdfast.idempotency_records', 0))
    ORDER BY
        key,
        principal
    LIMIT $2::bigint
)
