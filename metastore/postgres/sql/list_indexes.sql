SELECT
    index_uid,
    index_id,
    create_timestamp,
    index_metadata_json
FROM indexes
ORDER BY index_uid COLLATE "C"
