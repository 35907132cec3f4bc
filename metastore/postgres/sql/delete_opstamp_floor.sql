-- The opstamp that those of all delete tasks created from now on are above: the last one that was drawn.
SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END
FROM delete_tasks_opstamp_seq
