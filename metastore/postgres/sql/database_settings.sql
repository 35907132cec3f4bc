SELECT
    current_database()::text,
    current_setting('server_version_num')::bigint,
    current_setting('server_encoding'),
    current_setting('default_transaction_isolation'),
    coalesce(to_jsonb(pg_database) ->> 'datlocprovider', 'c'),
    datcollate::text,
    coalesce(to_jsonb(pg_database) ->> 'datlocale', to_jsonb(pg_database) ->> 'daticulocale', ''),
    coalesce(current_schema()::text, ''),
    current_setting('lock_timeout')
FROM pg_database
WHERE datname = current_database()
