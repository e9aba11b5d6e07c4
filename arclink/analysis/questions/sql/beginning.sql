-- Hosts, or pages of a host, whose addresses begin as `begins` does (for pages, as a SURT), captured
-- or only linked. Only the first variants of pages are read: the files are sorted by SURT.
WITH host AS (
    SELECT host AS name, count(*) AS captures
    FROM captures
    WHERE NOT getvariable('is_page') AND starts_with(host, getvariable('begins'))
    GROUP BY ALL
    UNION ALL
    SELECT DISTINCT target_host, 0
    FROM links
    WHERE NOT getvariable('is_page') AND starts_with(target_host, getvariable('begins'))
),
page AS (
    (
        SELECT DISTINCT surt, uri
        FROM captures
        WHERE getvariable('is_page') AND surt BETWEEN getvariable('begins') AND getvariable('last')
        LIMIT 50
    )
    UNION
    (
        SELECT DISTINCT target_surt, target
        FROM links
        WHERE getvariable('is_page')
            AND target_surt BETWEEN getvariable('begins') AND getvariable('last')
        LIMIT 50
    )
)
SELECT address FROM (
    SELECT name AS address, sum(captures) AS captures, name AS key FROM host GROUP BY name
    UNION ALL
    SELECT min(uri), 0, surt FROM page GROUP BY surt
)
ORDER BY captures DESC, key
LIMIT 10
