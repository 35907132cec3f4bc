-- The tasks of an index above an opstamp.
-- $1 index uid, $2 opstamp
SELECT
    opstamp,
    create_timestamp,
    delete_query_json
FROM delete_tasks
WHERE
    index_uid = $1::text
    AND opstamp > $2::bigint
ORDER BY opstamp
