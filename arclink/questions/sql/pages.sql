SELECT
    number, period_of(timestamp) AS period, min(uri) AS name,
    arg_max(title, timestamp) FILTER (title <> '') AS title,
    count(*) AS captures,
    arg_max(status, timestamp) AS status,
    arg_max(mime, timestamp) FILTER (record_type <> 'revisit') AS mime,
    min(timestamp) AS first, max(timestamp) AS last
FROM of_part
WHERE is_asked_time(timestamp)
GROUP BY number, period_of(timestamp), surt
ORDER BY number, period, captures DESC, name
