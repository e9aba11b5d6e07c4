SELECT
    number, period_of(timestamp) AS period, min(uri) AS name,
    newest(timestamp, nullif(title, '')) AS title,
    count(*) AS captures,
    newest(timestamp, status)::SMALLINT AS status,
    newest(timestamp, CASE WHEN record_type IS DISTINCT FROM 'revisit' THEN mime END) AS mime,
    min(timestamp) AS first, max(timestamp) AS last
FROM of_part
WHERE is_asked_time(timestamp)
GROUP BY number, period_of(timestamp), surt
ORDER BY number, period, captures DESC, name
