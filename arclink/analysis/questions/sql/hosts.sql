SELECT
    number, period, min(shown_of(uri, host, domain)) AS name,
    count(*) AS captures,
    count(DISTINCT surt) AS pages,
    min(timestamp) AS first, max(timestamp) AS last
FROM asked_captures
GROUP BY number, period, shown_of(surt, host, domain)
ORDER BY number, period, captures DESC, name
