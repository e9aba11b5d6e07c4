-- The last two periods with captures; only pages count that were captured in both, so that a larger
-- crawl is not taken for more links.
WITH compared AS MATERIALIZED (
    SELECT min(period) AS before, max(period) AS after
    FROM (
        SELECT DISTINCT period_of(timestamp) AS period
        FROM captures
        WHERE is_asked_time(timestamp)
        ORDER BY period DESC
        LIMIT 2
    )
    HAVING count(*) = 2
),
twice AS MATERIALIZED (
    SELECT surt
    FROM captures JOIN compared ON period_of(timestamp) IN (before, after)
    WHERE is_asked_time(timestamp) AND is_known(content, status)
    GROUP BY surt
    HAVING count(DISTINCT period_of(timestamp)) = 2
)
SELECT
    number, after AS period, min(shown_of(target, target_host, target_domain)) AS name,
    count(DISTINCT surt) FILTER (period = after) AS pages,
    count(DISTINCT surt) FILTER (period = before) AS pages_before,
    count(DISTINCT host) FILTER (period = after) AS hosts,
    count(DISTINCT host) FILTER (period = before) AS hosts_before
FROM inlinks SEMI JOIN twice USING (surt) CROSS JOIN compared
WHERE name_of(target_surt, target_host, target_domain) IS NOT NULL AND period IN (before, after)
GROUP BY number, name_of(target_surt, target_host, target_domain), before, after
HAVING pages > pages_before
ORDER BY number, pages - pages_before DESC, name
