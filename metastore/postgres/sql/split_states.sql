-- The state of each split that exists; one row without split id if the index exists.
-- $1 index uid, $2 split ids
SELECT
    split_id,
    split_state
FROM splits
WHERE
    index_uid = $1::text
    AND split_id = ANY ($2::text[])
UNION ALL
SELECT
    NULL,
    index_uid
FROM indexes
WHERE index_uid = $1::text
