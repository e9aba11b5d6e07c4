SELECT
    number, period, min(uri) AS name,
    newest(timestamp, nullif(title, '')) AS title,
    count(*) AS captures,
    newest(timestamp, status)::SMALLINT AS status,
    newest(timestamp, CASE WHEN record_type IS DISTINCT FROM 'revisit' THEN mime END) AS mime,
    min(timestamp) AS first, max(timestamp) AS last
FROM asked_captures
GROUP BY number, period, surt
ORDER BY number, period, captures DESC, name
