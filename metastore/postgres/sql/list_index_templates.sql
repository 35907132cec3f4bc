SELECT
    template_id,
    index_template_json
FROM index_templates
ORDER BY template_id COLLATE "C"
