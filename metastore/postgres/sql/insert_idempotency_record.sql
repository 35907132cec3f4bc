-- The first change of a transaction of a keyed call. Waits for another transaction that has inserted the record and is not
-- over, at most for $7. Fails if the record exists: its call has been executed.
-- $1 key, $2 principal in hexadecimal digits, $3 operation, $4 resource, $5 fingerprint in hexadecimal digits,
-- $6 version of the fingerprint, $7 the lock timeout of this statement, $8 that of those that follow
INSERT INTO holdfast.idempotency_records (key, principal, operation, resource, fingerprint, fingerprint_version)
SELECT
    $1::text::uuid,
    decode($2::text, 'hex'),
    $3::text,
    $4::text,
    decode($5::text, 'hex'),
    $6::bigint
-- Before the row is inserted. What the call itself waits for is another matter.
WHERE set_config('lock_timeout', $7::text, true) IS NOT NULL
RETURNING set_config('lock_timeout', $8::text, true)
