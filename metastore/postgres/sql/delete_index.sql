-- The last step: the foreign keys remove the rest, which is locked already.
-- $1 index uid
DELETE FROM indexes
WHERE index_uid = $1::text
