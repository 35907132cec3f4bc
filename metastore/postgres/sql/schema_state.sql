-- Which of the tables that only this schema has exist, by the search path.
SELECT
    to_regclass('_sqlx_migrations') IS NOT NULL,
    coalesce(to_regclass('indexes'), to_regclass('splits'), to_regclass('index_templates')) IS NOT NULL
