-- Answers no row, and changes nothing, if there is a template of this id.
-- $1 template id, $2 positive patterns, $3 negative patterns, $4 priority, $5 template document
INSERT INTO index_templates (
    template_id,
    positive_index_id_patterns,
    negative_index_id_patterns,
    priority,
    index_template_json
)
VALUES ($1::text, $2::text[], $3::text[], $4::bigint, $5::text)
ON CONFLICT (template_id) DO NOTHING
RETURNING template_id
