-- $1 index uid, $2 index id, $3 metadata document
INSERT INTO indexes (index_uid, index_id, index_metadata_json, create_timestamp)
VALUES ($1::text, $2::text, $3::text, date_trunc('second', now() AT TIME ZONE 'utc'))
RETURNING create_timestamp
