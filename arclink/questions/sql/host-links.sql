-- Links inside the part are both to it and of it: they count once.
WITH link AS (
    SELECT
        number, period, surt, page, uri, host, domain, target, target_surt, target_host, target_domain,
        kind, text, rel, timestamp
    FROM inlinks
    UNION ALL
    SELECT
        number, period, surt, page, uri, host, domain, target, target_surt, target_host, target_domain,
        kind, text, rel, timestamp
    FROM outlinks
    WHERE NOT is_of(target_surt, part_first, part_last)
)
SELECT
    number, period, min(shown_of(uri, host, domain)) AS source,
    min(shown_of(target, target_host, target_domain)) AS target,
    count(DISTINCT hash(surt, target_surt, kind, text, rel)) AS links,
    count(DISTINCT surt) AS pages,
    count(DISTINCT hash(page, timestamp)) AS mementos,
    min(timestamp) AS first, max(timestamp) AS last
FROM link
WHERE name_of(surt, host, domain) <> name_of(target_surt, target_host, target_domain)
GROUP BY
    number, period, name_of(surt, host, domain),
    name_of(target_surt, target_host, target_domain)
ORDER BY number, period, links DESC, source, target
