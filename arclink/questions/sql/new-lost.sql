-- A link is a page and a target; from its first capture to its last one it counts as one link. The
-- captures next to these with known links say whether it was added or removed meanwhile.
WITH link AS MATERIALIZED (
    SELECT
        number, surt, host, domain, target_surt,
        min(uri) AS uri, min(timestamp) AS first, max(timestamp) AS last
    FROM inlinks_ever
    GROUP BY ALL
),
known AS MATERIALIZED (
    SELECT DISTINCT surt, timestamp
    FROM captures
    WHERE is_known(content, status) AND surt IN (SELECT surt FROM link)
),
event AS (
    SELECT
        link.*, link.first AS moment,
        CASE WHEN known.surt IS NULL THEN 'first capture' ELSE 'added' END AS what
    FROM link ASOF LEFT JOIN known ON link.surt = known.surt AND link.first > known.timestamp
    UNION ALL
    SELECT link.*, known.timestamp, 'removed'
    FROM link ASOF JOIN known ON link.surt = known.surt AND link.last < known.timestamp
)
SELECT
    number, period_of(moment) AS period, min(shown_of(uri, host, domain)) AS name,
    count(*) FILTER (what = 'added') AS added,
    count(*) FILTER (what = 'first capture') AS first_capture,
    count(*) FILTER (what = 'removed') AS removed
FROM event
WHERE is_asked_time(moment)
GROUP BY number, period_of(moment), name_of(surt, host, domain)
ORDER BY number, period, added + first_capture + removed DESC, name
