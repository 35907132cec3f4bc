-- The indexes of table splits, by name, with their access method.
SELECT
    pg_class.relname::text,
    pg_am.amname::text,
    pg_index.indisvalid,
    pg_get_indexdef(pg_index.indexrelid)
FROM pg_index
INNER JOIN pg_class ON pg_index.indexrelid = pg_class.oid
INNER JOIN pg_am ON pg_class.relam = pg_am.oid
WHERE pg_index.indrelid = to_regclass('splits')
ORDER BY pg_class.relname
