-- Update: nobody may refer to the row any more.
-- $1 index uid
SELECT 1
FROM indexes
WHERE index_uid = $1::text
FOR UPDATE
