-- $1 index uids, $2 index ids
SELECT
    index_uid,
    index_id,
    create_timestamp,
    index_metadata_json
FROM indexes
WHERE
    index_uid = ANY ($1::text[])
    OR index_id = ANY ($2::text[])
