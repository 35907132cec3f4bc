-- Follows lock_metrics_splits_of_index.sql. Their foreign key does not cascade.
-- $1 index uid
DELETE FROM metrics_splits
WHERE index_uid = $1::text
