SELECT
    number, period, min(shown_of(uri, host, domain)) AS name,
    count(DISTINCT hash(page, target_surt, kind, text, rel)) AS links,
    count(DISTINCT surt) AS pages,
    count(DISTINCT hash(page, timestamp)) AS mementos,
    min(timestamp) AS first, max(timestamp) AS last
FROM inlinks
GROUP BY number, period, shown_of(surt, host, domain)
ORDER BY number, period, links DESC, name
