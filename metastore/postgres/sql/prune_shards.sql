-- Removes old shards, not more than a number of them, the first by shard id. Locks the shards by shard id, and removes only
-- what it locked: one that has been published to since it was found old is no longer.
-- Answers how many it found.
-- $1 index uid, $2 source id, $3 seconds that a shard may be old or null, $4 number of shards to keep or null, $5 number of
-- shards to remove at most
WITH old AS MATERIALIZED (
    SELECT
        ranked.shard_id,
        ranked.update_timestamp
    FROM (
        SELECT
            shard_id,
            update_timestamp,
            -- Seconds are what clients see; the peer writes fractions.
            row_number() OVER (ORDER BY date_trunc('second', update_timestamp) DESC, shard_id COLLATE "C" DESC) AS rank
        FROM shards
        WHERE
            index_uid = $1::text
            AND source_id = $2::text
    ) AS ranked
    WHERE
        ranked.rank > $4::bigint
        OR date_trunc('second', ranked.update_timestamp)
        < date_trunc('second', now() AT TIME ZONE 'utc') - make_interval(secs => $3::bigint::double precision)
    ORDER BY ranked.shard_id COLLATE "C"
    LIMIT $5::bigint
),
locked AS MATERIALIZED (
    SELECT
        found.index_uid,
        found.source_id,
        found.shard_id
    FROM (
        SELECT
            shard_id,
            update_timestamp
        FROM old
        ORDER BY shard_id COLLATE "C"
    ) AS wanted
    CROSS JOIN LATERAL (
        SELECT
            shards.index_uid,
            shards.source_id,
            shards.shard_id
        FROM shards
        WHERE
            shards.index_uid = $1::text
            AND shards.source_id = $2::text
            AND shards.shard_id = wanted.shard_id
            AND shards.update_timestamp = wanted.update_timestamp
        LIMIT 1
        FOR UPDATE
    ) AS found
),
removed AS (
    DELETE FROM shards
    USING locked
    WHERE
        shards.index_uid = locked.index_uid
        AND shards.source_id = locked.source_id
        AND shards.shard_id = locked.shard_id
)
SELECT count(*)
FROM old
