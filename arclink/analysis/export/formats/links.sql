-- What a query selects. Its variables are the first and the last time, in_force (links in force at
-- the last time), and the kinds of links that it wants.

-- Captures that count: observed in the span, or in force at its end, whatever their status. A redirect
-- of a page to itself is never in force.
CREATE TEMP TABLE shown AS
SELECT DISTINCT uri AS url, written, surt, host, domain, content, title, timestamp, time
FROM (
    SELECT
        *,
        timestamp = max(timestamp) OVER (PARTITION BY coalesce(written, uri)) AS is_newest
    FROM captures
    WHERE timestamp BETWEEN getvariable('first') AND getvariable('last')
        AND NOT (leads_to_itself AND getvariable('in_force'))
)
WHERE content IS NOT NULL AND (is_newest OR NOT getvariable('in_force'));

CREATE TEMP VIEW wanted AS FROM links WHERE list_contains(getvariable('kinds'), kind);

CREATE TEMP TABLE other_kinds AS
SELECT coalesce(sum(occurrences * times), 0)::BIGINT AS links
FROM links JOIN (SELECT content, count(*) AS times FROM shown GROUP BY content) USING (content)
WHERE NOT list_contains(getvariable('kinds'), kind);
