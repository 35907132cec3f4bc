-- No key update: what refers to the row may be inserted meanwhile.
-- $1 index uid
SELECT
    create_timestamp,
    index_metadata_json
FROM indexes
WHERE index_uid = $1::text
FOR NO KEY UPDATE
