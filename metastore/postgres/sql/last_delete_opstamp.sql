-- The highest opstamp of the tasks of an index; NULL if there is none.
-- $1 index uid
SELECT max(opstamp)
FROM delete_tasks
WHERE index_uid = $1::text
