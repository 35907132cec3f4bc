-- Until the end of the transaction.
-- $1 lock timeout, in milliseconds or with a unit
SELECT set_config('lock_timeout', $1::text, true)
