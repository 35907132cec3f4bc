SELECT
    index_uid,
    index_id
FROM indexes
ORDER BY index_uid COLLATE "C"
