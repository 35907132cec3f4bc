-- Waits for every transaction that is adding a delete task, of whatever program, and keeps others from beginning: adding
-- one locks the table before it draws an opstamp.
LOCK TABLE delete_tasks IN SHARE ROW EXCLUSIVE MODE
