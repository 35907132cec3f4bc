-- Follows insert_idempotency_records.sql in the same transaction.
-- $1 key, $2 principal in hexadecimal digits, $3 result
UPDATE holdfast.idempotency_records
SET result = $3::text
WHERE
    key = $1::text::uuid
    AND principal = decode($2::text, 'hex')
