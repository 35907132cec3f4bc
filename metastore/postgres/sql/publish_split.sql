-- Publishes one split that is staged. It locks nothing else, so it needs no order of locks and no lock on the index,
-- whose row would be written by each of many calls at a time.
-- $1 index uid, $2 split id
UPDATE splits
SET
    split_state = 'Published',
    update_timestamp = date_trunc('second', now() AT TIME ZONE 'utc'),
    publish_timestamp = date_trunc('second', now() AT TIME ZONE 'utc')
WHERE
    index_uid = $1::text
    AND split_id = $2::text
    -- In a form that no index serves: one has the index uid and the state, and without statistics looks as good as the
    -- primary key.
    AND (split_state = 'Staged') IS TRUE
