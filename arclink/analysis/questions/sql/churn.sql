-- Each capture of a page is compared with the one before. Most comparisons are of one content with
-- itself, or like another one. A link is a target with a host; it is an expression because DuckDB
-- groups all links by a column before it joins them: of 10 million links, 13 s instead of 10.
WITH compared AS MATERIALIZED (
    SELECT
        *, CASE WHEN getvariable('is_external') THEN host END AS from_host,
        CASE WHEN getvariable('is_external') THEN domain END AS from_domain
    FROM (
        SELECT *, lag(contents) OVER earlier AS before, lag(timestamp) OVER earlier AS time_before
        FROM histories_of_part
        WINDOW earlier AS (PARTITION BY number, page ORDER BY timestamp)
    )
    WHERE before IS NOT NULL AND is_asked_time(timestamp)
),
change AS MATERIALIZED (
    SELECT *, row_number() OVER () AS change
    FROM (
        SELECT DISTINCT part_first, part_last, before, contents, from_host, from_domain
        FROM compared
    )
),
counted AS (
    SELECT
        change,
        count(*) FILTER (bits <> 2) AS before,
        count(*) FILTER (bits = 2) AS came,
        count(*) FILTER (bits = 1) AS gone
    FROM (
        SELECT
            change, CASE WHEN target_host IS NOT NULL THEN target_surt END AS name,
            bit_or(bit) AS bits
        FROM (
            SELECT *, unnest(before) AS content, 1 AS bit FROM change
            UNION ALL
            SELECT *, unnest(contents), 2 FROM change
        ) JOIN wanted_of_part USING (content)
        WHERE name IS NOT NULL AND is_to_outside(
            target_surt, from_host, from_domain, target_host, target_domain, part_first, part_last
        )
        GROUP BY ALL
    )
    GROUP BY ALL
)
SELECT
    number, period, min(shown_of(uri, host, domain)) AS name,
    count(DISTINCT page) AS pages,
    count(*) AS comparisons,
    round(sum(seconds(timestamp) - seconds(time_before)) / 86400 / count(*), 6) AS days_apart,
    sum(coalesce(counted.before, 0))::BIGINT AS links_before,
    sum(coalesce(came, 0))::BIGINT AS added,
    sum(coalesce(gone, 0))::BIGINT AS removed
FROM (SELECT *, period_of(timestamp) AS period FROM compared) AS compared
JOIN change ON compared.part_first = change.part_first AND compared.part_last = change.part_last
    AND compared.before = change.before AND compared.contents = change.contents
    AND compared.from_host IS NOT DISTINCT FROM change.from_host
LEFT JOIN counted USING (change)
GROUP BY number, period, shown_of(surt, host, domain)
ORDER BY number, period, added + removed DESC, name
