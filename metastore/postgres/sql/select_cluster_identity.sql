SELECT value
FROM kv
WHERE key = 'cluster_identity'
