-- Key share: held by every call that changes splits of the index, by any number at a time.
-- $1 index uid
SELECT 1
FROM indexes
WHERE index_uid = $1::text
FOR KEY SHARE
