-- Whether the index exists, without a lock.
-- $1 index uid
SELECT 1
FROM indexes
WHERE index_uid = $1::text
