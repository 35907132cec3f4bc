-- Follows select_index_for_update.sql in the same transaction.
-- $1 index uid, $2 metadata document
UPDATE indexes
SET index_metadata_json = $2::text
WHERE index_uid = $1::text
