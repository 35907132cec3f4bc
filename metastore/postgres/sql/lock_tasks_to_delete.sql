-- Deletes nothing, but locks the table as the deletion of an index does that takes its delete tasks with it.
DELETE FROM delete_tasks
WHERE false
