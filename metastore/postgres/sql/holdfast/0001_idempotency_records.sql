-- One row for each call with an idempotency key that succeeded. No foreign key to indexes: the record of a call outlives
-- the index that it was about.
CREATE TABLE holdfast.idempotency_records (
    key uuid NOT NULL,
    principal bytea NOT NULL CHECK (octet_length(principal) = 16),
    operation text NOT NULL,
    resource text NOT NULL CHECK (octet_length(resource) <= 512),
    fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
    fingerprint_version smallint NOT NULL,
    status text NOT NULL DEFAULT 'OK',
    result text NOT NULL DEFAULT '' CHECK (octet_length(result) <= 256),
    create_timestamp timestamp NOT NULL DEFAULT date_trunc('second', now() AT TIME ZONE 'utc'),
    -- Keys order by time: new rows go to the right edge of the index, old ones are a range at the left.
    CONSTRAINT idempotency_records_pkey PRIMARY KEY (key, principal)
)
-- Rows are removed as fast as they come. The table stays small only if their space is taken back soon.
WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);
