-- Without casts; see insert_idempotency_record.sql.
-- One array each: $1 keys, $2 principals, $3 operations, $4 resources, $5 fingerprints, $6 versions of the fingerprints
SELECT holdfast.insert_idempotency_records($1, $2, $3, $4, $5, $6)
