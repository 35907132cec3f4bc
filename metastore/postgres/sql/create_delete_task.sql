-- Adds a delete task. The index row is locked before the opstamp is drawn, against others that add tasks of the
-- index: otherwise a higher opstamp could be seen before a lower one, which who reads on from the higher one would
-- never see.
-- $1 index uid, $2 delete query
WITH target AS MATERIALIZED (
    SELECT index_uid
    FROM indexes
    WHERE index_uid = $1::text
    FOR NO KEY UPDATE
)
INSERT INTO delete_tasks (
    create_timestamp,
    opstamp,
    index_uid,
    delete_query_json
)
SELECT
    date_trunc('second', now() AT TIME ZONE 'utc'),
    nextval('delete_tasks_opstamp_seq'),
    index_uid,
    $2::text
FROM target
RETURNING
    opstamp,
    create_timestamp
