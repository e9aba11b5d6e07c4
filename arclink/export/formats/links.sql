-- What a query selects. `asked` has its times, `kinds` each kind of links and whether it is wanted,
-- `wanted` the links of these kinds.

-- Captures that count: observed in the span, or in force at its end, whatever their status.
CREATE TEMP TABLE shown AS
SELECT DISTINCT uri AS url, written, surt, host, domain, content, timestamp, time
FROM (
    SELECT
        captures.*, in_force,
        timestamp = max(timestamp) OVER (PARTITION BY coalesce(written, uri)) AS is_newest
    FROM captures, asked
    WHERE timestamp BETWEEN first AND last
)
WHERE content IS NOT NULL AND (is_newest OR NOT in_force);

CREATE TEMP TABLE other_kinds AS
SELECT coalesce(sum(occurrences * times), 0)::BIGINT AS links
FROM links JOIN kinds USING (kind)
JOIN (SELECT content, count(*) AS times FROM shown GROUP BY content) USING (content)
WHERE NOT is_wanted;
