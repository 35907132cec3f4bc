-- As insert_idempotency_record.sql, for several calls in one transaction. Waits without a limit of its own.
-- Locks: the new keys, sorted.
-- One array each: $1 keys, $2 principals in hexadecimal digits, $3 operations, $4 resources, $5 fingerprints in
-- hexadecimal digits, $6 versions of the fingerprints
INSERT INTO holdfast.idempotency_records (key, principal, operation, resource, fingerprint, fingerprint_version)
SELECT
    new.key::uuid,
    decode(new.principal, 'hex'),
    new.operation,
    new.resource,
    decode(new.fingerprint, 'hex'),
    new.fingerprint_version
FROM unnest(
    $1::text[],
    $2::text[],
    $3::text[],
    $4::text[],
    $5::text[],
    $6::bigint[]
) AS new (key, principal, operation, resource, fingerprint, fingerprint_version)
ORDER BY
    new.key COLLATE "C",
    new.principal COLLATE "C"
