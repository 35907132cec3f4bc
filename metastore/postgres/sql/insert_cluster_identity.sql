-- $1 uuid
INSERT INTO kv (key, value)
VALUES ('cluster_identity', $1::text)
ON CONFLICT (key) DO NOTHING
