-- The tables of Quickwit's metastore as its release 0.9 and later leave them, for an empty database. Names are
-- part of the contract: the peer's later migrations refer to constraints, indexes, triggers, functions and
-- sequences by name. One deviation: splits_node_id_idx is a btree, since each insert into the peer's hash index
-- walks all rows of the same node.

CREATE TABLE _sqlx_migrations (
    version bigint PRIMARY KEY,
    description text NOT NULL,
    installed_on timestamp with time zone NOT NULL DEFAULT now(),
    success boolean NOT NULL,
    checksum bytea NOT NULL,
    execution_time bigint NOT NULL
);

CREATE TABLE indexes (
    index_uid varchar(282) PRIMARY KEY,
    index_id varchar(255) NOT NULL DEFAULT '',
    index_metadata_json text NOT NULL,
    create_timestamp timestamp NOT NULL DEFAULT (CURRENT_TIMESTAMP AT TIME ZONE 'UTC')
);

CREATE UNIQUE INDEX indexes_index_id_unique ON indexes (index_id varchar_pattern_ops);

CREATE TABLE splits (
    index_uid varchar(282) NOT NULL,
    split_id varchar(50) NOT NULL,
    split_state varchar(30) NOT NULL,
    time_range_start bigint,
    time_range_end bigint,
    create_timestamp timestamp NOT NULL DEFAULT (CURRENT_TIMESTAMP AT TIME ZONE 'UTC'),
    update_timestamp timestamp NOT NULL DEFAULT (CURRENT_TIMESTAMP AT TIME ZONE 'UTC'),
    publish_timestamp timestamp,
    maturity_timestamp timestamp DEFAULT to_timestamp(0),
    delete_opstamp bigint DEFAULT 0 CONSTRAINT splits_delete_opstamp_check CHECK (delete_opstamp >= 0),
    node_id varchar(253) NOT NULL,
    tags text[] NOT NULL,
    split_metadata_json text NOT NULL,
    split_size_bytes bigint NOT NULL GENERATED ALWAYS AS (
        (split_metadata_json::json -> 'footer_offsets' ->> 'end')::bigint
    ) STORED,
    CONSTRAINT splits_pkey PRIMARY KEY (index_uid, split_id),
    CONSTRAINT splits_index_uid_fkey FOREIGN KEY (index_uid) REFERENCES indexes (index_uid) ON DELETE CASCADE
);

CREATE INDEX splits_time_range_start_idx ON splits (time_range_start);
CREATE INDEX splits_time_range_end_idx ON splits (time_range_end);
CREATE INDEX splits_node_id_idx ON splits (node_id);
CREATE INDEX splits_maturity_timestamp_idx ON splits (maturity_timestamp, split_id);
CREATE INDEX idx_splits_stats ON splits (index_uid, split_state) INCLUDE (split_size_bytes);

CREATE TABLE delete_tasks (
    opstamp bigserial PRIMARY KEY,
    index_uid varchar(282) NOT NULL,
    create_timestamp timestamp NOT NULL DEFAULT (CURRENT_TIMESTAMP AT TIME ZONE 'UTC'),
    delete_query_json text NOT NULL,
    CONSTRAINT delete_tasks_index_uid_fkey FOREIGN KEY (index_uid) REFERENCES indexes (index_uid) ON DELETE CASCADE
);

CREATE TYPE shard_state AS ENUM ('unspecified', 'open', 'unavailable', 'closed');

-- Nothing draws from this sequence; the default is a left-over of the peer's history.
CREATE SEQUENCE shards_shard_id_seq;

CREATE TABLE shards (
    index_uid varchar(282) NOT NULL,
    source_id varchar(255) NOT NULL,
    shard_id varchar(255) NOT NULL DEFAULT nextval('shards_shard_id_seq'),
    leader_id varchar(255) NOT NULL,
    follower_id varchar(255),
    shard_state shard_state NOT NULL DEFAULT 'open',
    publish_position_inclusive varchar(255) NOT NULL DEFAULT '',
    publish_token varchar(255),
    doc_mapping_uid varchar(26) NOT NULL,
    update_timestamp timestamp NOT NULL DEFAULT '2024-01-01 00:00:00',
    CONSTRAINT shards_pkey PRIMARY KEY (index_uid, source_id, shard_id),
    CONSTRAINT shards_index_uid_fkey FOREIGN KEY (index_uid) REFERENCES indexes (index_uid) ON DELETE CASCADE
);

ALTER SEQUENCE shards_shard_id_seq OWNED BY shards.shard_id;

CREATE TABLE index_templates (
    template_id varchar(255) PRIMARY KEY,
    positive_index_id_patterns varchar(255)[] NOT NULL,
    negative_index_id_patterns varchar(255)[] NOT NULL,
    priority integer NOT NULL DEFAULT 0,
    index_template_json text NOT NULL
);

CREATE TABLE kv (
    key varchar(50) PRIMARY KEY,
    value text NOT NULL
);

-- No cascade, unlike everywhere else: who deletes an index deletes these rows first.
CREATE TABLE metrics_splits (
    split_id varchar(50) PRIMARY KEY,
    index_uid varchar(282) NOT NULL,
    split_state varchar(30) NOT NULL,
    time_range_start bigint NOT NULL,
    time_range_end bigint NOT NULL,
    window_start bigint,
    window_duration_secs integer,
    metric_names text[] NOT NULL,
    tag_service text[],
    tag_env text[],
    tag_datacenter text[],
    tag_region text[],
    tag_host text[],
    high_cardinality_tag_keys text[] NOT NULL DEFAULT '{}',
    num_rows bigint NOT NULL,
    size_bytes bigint NOT NULL,
    num_merge_ops integer NOT NULL DEFAULT 0,
    sort_fields text NOT NULL DEFAULT '',
    row_keys bytea,
    zonemap_regexes jsonb NOT NULL DEFAULT '{}',
    create_timestamp timestamp NOT NULL DEFAULT (CURRENT_TIMESTAMP AT TIME ZONE 'UTC'),
    update_timestamp timestamp NOT NULL DEFAULT (CURRENT_TIMESTAMP AT TIME ZONE 'UTC'),
    publish_timestamp timestamp,
    maturity_timestamp timestamp DEFAULT to_timestamp(0),
    delete_opstamp bigint DEFAULT 0 CONSTRAINT metrics_splits_delete_opstamp_check CHECK (delete_opstamp >= 0),
    node_id varchar(253),
    split_metadata_json text NOT NULL,
    CONSTRAINT metrics_splits_index_uid_fkey FOREIGN KEY (index_uid) REFERENCES indexes (index_uid)
);

CREATE INDEX idx_metrics_splits_time ON metrics_splits (time_range_start, time_range_end);
CREATE INDEX idx_metrics_splits_metric_names ON metrics_splits USING gin (metric_names);
CREATE INDEX idx_metrics_splits_tag_service ON metrics_splits USING gin (tag_service);
CREATE INDEX idx_metrics_splits_tag_env ON metrics_splits USING gin (tag_env);
CREATE INDEX idx_metrics_splits_tag_datacenter ON metrics_splits USING gin (tag_datacenter);
CREATE INDEX idx_metrics_splits_tag_region ON metrics_splits USING gin (tag_region);
CREATE INDEX idx_metrics_splits_tag_host ON metrics_splits USING gin (tag_host);
CREATE INDEX idx_metrics_splits_compaction_scope ON metrics_splits (index_uid, sort_fields, window_start)
WHERE split_state = 'Published';

CREATE FUNCTION set_publish_timestamp_for_metrics_split() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF old.split_state = 'Staged' AND new.split_state = 'Published' THEN
        new.publish_timestamp := now() AT TIME ZONE 'UTC';
    END IF;
    RETURN new;
END
$body$;

CREATE TRIGGER set_publish_timestamp_on_metrics_split_publish
BEFORE UPDATE ON metrics_splits
FOR EACH ROW EXECUTE FUNCTION set_publish_timestamp_for_metrics_split();

CREATE TABLE sketch_splits (
    split_id varchar(50) PRIMARY KEY,
    index_uid varchar(282) NOT NULL,
    split_state varchar(30) NOT NULL,
    time_range_start bigint NOT NULL,
    time_range_end bigint NOT NULL,
    window_start bigint,
    window_duration_secs integer,
    metric_names text[] NOT NULL,
    tag_service text[],
    tag_env text[],
    tag_datacenter text[],
    tag_region text[],
    tag_host text[],
    high_cardinality_tag_keys text[] NOT NULL DEFAULT '{}',
    num_rows bigint NOT NULL,
    size_bytes bigint NOT NULL,
    num_merge_ops integer NOT NULL DEFAULT 0,
    sort_fields text NOT NULL DEFAULT '',
    row_keys bytea,
    zonemap_regexes jsonb NOT NULL DEFAULT '{}',
    create_timestamp timestamp NOT NULL DEFAULT (CURRENT_TIMESTAMP AT TIME ZONE 'UTC'),
    update_timestamp timestamp NOT NULL DEFAULT (CURRENT_TIMESTAMP AT TIME ZONE 'UTC'),
    publish_timestamp timestamp,
    maturity_timestamp timestamp DEFAULT to_timestamp(0),
    delete_opstamp bigint DEFAULT 0 CONSTRAINT sketch_splits_delete_opstamp_check CHECK (delete_opstamp >= 0),
    node_id varchar(253),
    split_metadata_json text NOT NULL,
    CONSTRAINT sketch_splits_index_uid_fkey FOREIGN KEY (index_uid) REFERENCES indexes (index_uid) ON DELETE CASCADE
);

CREATE INDEX idx_sketch_splits_time ON sketch_splits (time_range_start, time_range_end);
CREATE INDEX idx_sketch_splits_metric_names ON sketch_splits USING gin (metric_names);
CREATE INDEX idx_sketch_splits_tag_service ON sketch_splits USING gin (tag_service);
CREATE INDEX idx_sketch_splits_tag_env ON sketch_splits USING gin (tag_env);
CREATE INDEX idx_sketch_splits_tag_datacenter ON sketch_splits USING gin (tag_datacenter);
CREATE INDEX idx_sketch_splits_tag_region ON sketch_splits USING gin (tag_region);
CREATE INDEX idx_sketch_splits_tag_host ON sketch_splits USING gin (tag_host);
CREATE INDEX idx_sketch_splits_compaction_scope ON sketch_splits (index_uid, sort_fields, window_start)
WHERE split_state = 'Published';

CREATE FUNCTION set_publish_timestamp_for_sketch_split() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF old.split_state = 'Staged' AND new.split_state = 'Published' THEN
        new.publish_timestamp := now() AT TIME ZONE 'UTC';
    END IF;
    RETURN new;
END
$body$;

CREATE TRIGGER set_publish_timestamp_on_sketch_split_publish
BEFORE UPDATE ON sketch_splits
FOR EACH ROW EXECUTE FUNCTION set_publish_timestamp_for_sketch_split();

-- Attached to nothing, here as at the peer, whose later migrations may drop them by name.
CREATE FUNCTION quickwit_manage_update_timestamp(_tbl regclass) RETURNS void LANGUAGE plpgsql AS $body$
BEGIN
    RAISE EXCEPTION 'quickwit_manage_update_timestamp is kept for its name only';
END
$body$;

CREATE FUNCTION quickwit_set_update_timestamp() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    RETURN new;
END
$body$;

CREATE FUNCTION set_index_update_timestamp_for_split() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    RETURN NULL;
END
$body$;

CREATE FUNCTION set_split_publish_timestamp_for_split() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    RETURN new;
END
$body$;
