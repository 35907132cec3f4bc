-- Follows lock_delete_tasks.sql, because it would set the sequence back behind opstamps that are drawn meanwhile.
-- A sequence is no part of a transaction: what is set stays set.
-- $1 opstamp
SELECT setval('delete_tasks_opstamp_seq', $1::bigint)
FROM delete_tasks_opstamp_seq
WHERE last_value < $1::bigint OR last_value = $1::bigint AND NOT is_called
