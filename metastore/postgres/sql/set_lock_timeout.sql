-- Bounds how long the statements of this transaction wait for a lock.
-- $1 the time in milliseconds
SELECT set_config('lock_timeout', $1::text, true)
