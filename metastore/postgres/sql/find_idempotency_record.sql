-- $1 key, $2 principal in hexadecimal digits
SELECT
    operation,
    resource,
    fingerprint,
    fingerprint_version::bigint,
    status,
    result,
    create_timestamp
FROM holdfast.idempotency_records
WHERE
    key = $1::text::uuid
    AND principal = decode($2::text, 'hex')
