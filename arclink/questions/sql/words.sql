SELECT
    number, period, text,
    count(DISTINCT hash(page, target_surt, kind, rel)) AS links,
    count(DISTINCT surt) AS pages,
    count(DISTINCT host) AS hosts,
    min(timestamp) AS first, max(timestamp) AS last
FROM inlinks
GROUP BY ALL
ORDER BY number, period, links DESC, text
