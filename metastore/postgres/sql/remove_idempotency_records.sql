-- Follows insert_idempotency_records.sql in the same transaction.
-- $1 keys, $2 principals in hexadecimal digits, of which each belongs to the key at the same place
DELETE FROM holdfast.idempotency_records
USING unnest($1::text[], $2::text[]) AS refused (key, principal)
WHERE
    idempotency_records.key = refused.key::uuid
    AND idempotency_records.principal = decode(refused.principal, 'hex')
