-- The records are inserted by functions, whose plans each session keeps: most of the time that an insertion takes would
-- else go into planning it. Sessions keep them behind a proxy that pools transactions, too, where named statements would
-- be in the way.

-- The first change of a transaction of a keyed call. Waits for another transaction that has inserted the record and is not
-- over, at most for key_wait. Fails if the record exists: its call has been executed.
CREATE FUNCTION holdfast.insert_idempotency_record(
    key uuid,
    principal bytea,
    operation text,
    resource text,
    fingerprint bytea,
    fingerprint_version smallint,
    key_wait text,
    lock_timeout text
) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    ignored text;
BEGIN
    INSERT INTO holdfast.idempotency_records (key, principal, operation, resource, fingerprint, fingerprint_version)
    SELECT
        key,
        principal,
        operation,
        resource,
        fingerprint,
        fingerprint_version
    -- Before the row is inserted.
    WHERE set_config('lock_timeout', key_wait, true) IS NOT NULL;
    -- What the call itself waits for is another matter.
    ignored := set_config('lock_timeout', lock_timeout, true);
END
$$;

-- As insert_idempotency_record, for several calls in one transaction. Waits without a limit of its own.
-- Locks: the new keys, sorted.
CREATE FUNCTION holdfast.insert_idempotency_records(
    keys uuid[],
    principals bytea[],
    operations text[],
    resources text[],
    fingerprints bytea[],
    fingerprint_versions smallint[]
) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO holdfast.idempotency_records (key, principal, operation, resource, fingerprint, fingerprint_version)
    SELECT
        new.key,
        new.principal,
        new.operation,
        new.resource,
        new.fingerprint,
        new.fingerprint_version
    FROM unnest(
        keys,
        principals,
        operations,
        resources,
        fingerprints,
        fingerprint_versions
    ) AS new (key, principal, operation, resource, fingerprint, fingerprint_version)
    ORDER BY
        new.key,
        new.principal;
END
$$;

-- Their expressions are prepared anew for each statement. Whoever inserts sees to the lengths, and whoever reads looks at them.
ALTER TABLE holdfast.idempotency_records
    DROP CONSTRAINT idempotency_records_principal_check,
    DROP CONSTRAINT idempotency_records_resource_check,
    DROP CONSTRAINT idempotency_records_fingerprint_check,
    DROP CONSTRAINT idempotency_records_result_check;
