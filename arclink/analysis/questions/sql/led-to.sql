SELECT
    number, period, min(shown_of(target, target_host, target_domain)) AS name,
    count(DISTINCT hash(surt, target, kind, text, rel)) AS links,
    count(DISTINCT surt) AS pages,
    count(DISTINCT hash(page, timestamp)) AS mementos,
    min(timestamp) AS first, max(timestamp) AS last
FROM outlinks
GROUP BY number, period, shown_of(target_surt, target_host, target_domain)
ORDER BY number, period, links DESC, name
