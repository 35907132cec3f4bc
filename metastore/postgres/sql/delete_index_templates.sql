-- Locks the templates by template id, and removes what it locked.
-- $1 template ids
WITH locked AS MATERIALIZED (
    SELECT template_id
    FROM index_templates
    WHERE template_id = ANY ($1::text[])
    ORDER BY template_id COLLATE "C"
    FOR UPDATE
)
DELETE FROM index_templates
USING locked
WHERE index_templates.template_id = locked.template_id
