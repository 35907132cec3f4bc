-- Without casts, whose types would be looked up each time. The function has only one signature.
-- $1 key, $2 principal, $3 operation, $4 resource, $5 fingerprint, $6 version of the fingerprint, $7 the lock timeout of
-- this statement, $8 that of those that follow
SELECT holdfast.insert_idempotency_record($1, $2, $3, $4, $5, $6, $7, $8)
