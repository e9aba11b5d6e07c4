-- Pages that links lead to, and that were never captured, or (the variable is_stale) only before the
-- span. A page is named by the URI that most links use, of those that a crawler can capture.
WITH page AS (
    SELECT surt AS target_surt, max(timestamp) AS captured FROM captures GROUP BY surt
),
linked AS MATERIALIZED (
    SELECT
        target_surt, count(DISTINCT host) AS hosts, count(DISTINCT surt) AS pages,
        min(timestamp) AS first, max(timestamp) AS last, any_value(captured) AS captured
    FROM inlinks LEFT JOIN page USING (target_surt)
    WHERE CASE
        WHEN getvariable('is_stale') THEN captured < getvariable('since')
        ELSE captured IS NULL
    END
    GROUP BY target_surt
    HAVING hosts >= getvariable('hosts')
),
named AS (
    SELECT target_surt, arg_min(target, (-links, target)) AS uri
    FROM (
        SELECT target_surt, target, count(*) AS links
        FROM to_part SEMI JOIN linked USING (target_surt)
        WHERE regexp_matches(target, '^https?://', 'i')
        GROUP BY ALL
    )
    GROUP BY target_surt
)
SELECT uri, hosts, pages, first, last, captured
FROM linked JOIN named USING (target_surt)
ORDER BY hosts DESC, pages DESC, target_surt
