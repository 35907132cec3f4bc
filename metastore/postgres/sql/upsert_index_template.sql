-- Writes nothing if the row is the same already.
-- $1 template id, $2 positive patterns, $3 negative patterns, $4 priority, $5 template document
INSERT INTO index_templates AS stored (
    template_id,
    positive_index_id_patterns,
    negative_index_id_patterns,
    priority,
    index_template_json
)
VALUES ($1::text, $2::text[], $3::text[], $4::bigint, $5::text)
ON CONFLICT (template_id) DO UPDATE
    SET
        positive_index_id_patterns = excluded.positive_index_id_patterns,
        negative_index_id_patterns = excluded.negative_index_id_patterns,
        priority = excluded.priority,
        index_template_json = excluded.index_template_json
    WHERE
        stored.positive_index_id_patterns IS DISTINCT FROM excluded.positive_index_id_patterns
        OR stored.negative_index_id_patterns IS DISTINCT FROM excluded.negative_index_id_patterns
        OR stored.priority IS DISTINCT FROM excluded.priority
        OR stored.index_template_json IS DISTINCT FROM excluded.index_template_json
