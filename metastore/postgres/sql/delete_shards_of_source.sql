-- Follows lock_shards_of_source.sql in the same transaction, which has locked what there is.
-- $1 index uid, $2 source id
DELETE FROM shards
WHERE
    index_uid = $1::text
    AND source_id = $2::text
