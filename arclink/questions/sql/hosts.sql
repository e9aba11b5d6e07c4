SELECT
    number, period_of(timestamp) AS period, min(shown_of(uri, host, domain)) AS name,
    count(*) AS captures,
    count(DISTINCT surt) AS pages,
    min(timestamp) AS first, max(timestamp) AS last
FROM of_part
WHERE is_asked_time(timestamp)
GROUP BY number, period_of(timestamp), shown_of(surt, host, domain)
ORDER BY number, period, captures DESC, name
