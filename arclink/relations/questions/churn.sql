-- How many links the pages gained and lost between consecutive captures, by window of the later
-- capture and by group of pages (the variable per: host, domain, all).
WITH pair AS MATERIALIZED (
    SELECT *, CASE getvariable('level') WHEN 'domain' THEN domain ELSE host END AS place
    FROM (
        SELECT *, lag(contents) OVER earlier AS before, lag(timestamp) OVER earlier AS time_before
        FROM histories
        WINDOW earlier AS (PARTITION BY surt, page ORDER BY timestamp)
    )
    WHERE before IS NOT NULL AND len(windows_at(timestamp)) > 0
),
change AS MATERIALIZED (  -- most pairs are of one content, or like another pair
    SELECT *, row_number() OVER () AS number
    FROM (
        SELECT DISTINCT
            before, contents, CASE WHEN getvariable('is_external') THEN place END AS place
        FROM pair
    )
),
side AS (
    SELECT number, place, unnest(before) AS content, 1 AS bit FROM change
    UNION ALL
    SELECT number, place, unnest(contents), 2 FROM change
),
counted AS (
    SELECT
        number,
        count(*) FILTER (bits <> 2) AS before,
        count(*) FILTER (bits = 2) AS added,
        count(*) FILTER (bits = 1) AS removed
    FROM (
        SELECT number, name, bit_or(bit) AS bits
        FROM side JOIN targets USING (content)
        WHERE leads_out(place, place, target_host, target_domain)
        GROUP BY ALL
    )
    GROUP BY ALL
)
SELECT
    "window", part,
    count(DISTINCT (surt, page)) AS pages,
    count(*) AS comparisons,
    sum(seconds(timestamp) - seconds(time_before))::BIGINT AS seconds,
    sum(coalesce(counted.before, 0))::BIGINT AS before,
    sum(coalesce(added, 0))::BIGINT AS added,
    sum(coalesce(removed, 0))::BIGINT AS removed
FROM (
    SELECT
        *, unnest(windows_at(timestamp)) AS "window",
        CASE getvariable('per')
            WHEN 'host' THEN coalesce(host, '') WHEN 'domain' THEN coalesce(domain, '') ELSE 'all'
        END AS part
    FROM pair
) AS pair
JOIN change ON pair.before = change.before AND pair.contents = change.contents
    AND (NOT getvariable('is_external') OR pair.place IS NOT DISTINCT FROM change.place)
LEFT JOIN counted USING (number)
GROUP BY ALL
ORDER BY ALL
