-- $1 index uids
SELECT
    indexes.index_uid,
    splits.split_state,
    count(splits.split_state),
    sum(splits.split_size_bytes)::text
FROM indexes
LEFT JOIN splits ON indexes.index_uid = splits.index_uid
WHERE indexes.index_uid = ANY ($1::text[])
GROUP BY indexes.index_uid, splits.split_state
