-- $1 template id
SELECT index_template_json
FROM index_templates
WHERE template_id = $1::text
