-- As publish_split.sql, but of a split that is not staged it makes a division by zero, so that the record of the call is
-- undone in the same round trip.
-- $1 index uid, $2 split id
WITH published AS (
    UPDATE splits
    SET
        split_state = 'Published',
        update_timestamp = date_trunc('second', now() AT TIME ZONE 'utc'),
        publish_timestamp = date_trunc('second', now() AT TIME ZONE 'utc')
    WHERE
        index_uid = $1::text
        AND split_id = $2::text
        AND (split_state = 'Staged') IS TRUE
    RETURNING 1
)
SELECT 1 / count(*)::int
FROM published
