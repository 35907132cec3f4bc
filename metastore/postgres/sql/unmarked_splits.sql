-- The splits that exist and are not marked. For the look-ups see split_states.sql.
-- $1 index uid, $2 split ids
SELECT found.split_id
FROM unnest($2::text[]) AS wanted (split_id)
CROSS JOIN LATERAL (
    SELECT
        splits.split_id,
        splits.split_state
    FROM splits
    WHERE
        splits.index_uid = $1::text
        AND splits.split_id = wanted.split_id
    LIMIT 1
) AS found
WHERE found.split_state <> 'MarkedForDeletion'
