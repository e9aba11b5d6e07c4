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
),
grouped AS MATERIALIZED (
    SELECT
        number, period,
        name_of(surt, host, domain) AS source_key, min(shown_of(uri, host, domain)) AS source,
        name_of(target_surt, target_host, target_domain) AS target_key,
        min(shown_of(target, target_host, target_domain)) AS target,
        count(DISTINCT hash(surt, target_surt, kind, text, rel)) AS links,
        count(DISTINCT surt) AS pages,
        count(DISTINCT hash(page, timestamp)) AS mementos,
        min(timestamp) AS first, max(timestamp) AS last
    FROM link
    WHERE source_key <> target_key
    GROUP BY number, period, source_key, target_key
),
named AS MATERIALIZED (  -- one name of a page, as source and as target
    SELECT key, min(name) AS name
    FROM (
        SELECT source_key AS key, source AS name FROM grouped
        UNION ALL
        SELECT target_key, target FROM grouped
    )
    GROUP BY key
)
SELECT
    number, period, source.name AS source, target.name AS target,
    links, pages, mementos, first, last
FROM grouped
JOIN named AS source ON source_key = source.key
JOIN named AS target ON target_key = target.key
ORDER BY number, period, links DESC, source.name, target.name
