-- Key share: as lock_index.sql, for several indexes, by index uid.
-- $1 index uids
SELECT count(*)
FROM (
    SELECT 1
    FROM indexes
    WHERE index_uid = ANY ($1::text[])
    ORDER BY index_uid COLLATE "C"
    FOR KEY SHARE
) AS locked
