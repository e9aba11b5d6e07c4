-- A link is a page and a target; from its first capture to its last one it counts as one link. The
-- captures next to these with known links say whether it was added or removed meanwhile.
WITH known AS MATERIALIZED (  -- moments of one page have numbers one after the other
    SELECT
        *, row_number() OVER (ORDER BY surt, timestamp) AS moment,
        row_number() OVER (PARTITION BY surt ORDER BY timestamp) AS of_page
    FROM (
        SELECT
            surt, timestamp, min(uri) AS uri, any_value(host) AS host, any_value(domain) AS domain
        FROM said
        WHERE is_known(content, status) AND surt IN (
            SELECT surt FROM said WHERE content IN (SELECT content FROM to_part)
        )
        GROUP BY surt, timestamp
    )
),
link AS (
    SELECT number, moment - of_page AS page, min(moment) AS first, max(moment) AS last
    FROM inlinks_ever JOIN known USING (surt, timestamp)
    GROUP BY number, moment - of_page, target_surt
),
event AS (
    SELECT number, page, first AS moment, true AS is_first, count(*) AS links
    FROM link
    GROUP BY number, page, first
    UNION ALL
    SELECT number, page, last + 1, false, count(*)
    FROM link
    GROUP BY number, page, last
)
SELECT
    number, period, min(shown_of(uri, host, domain)) AS name,
    coalesce(sum(links) FILTER (is_first AND of_page > 1), 0) AS added,
    coalesce(sum(links) FILTER (is_first AND of_page = 1), 0) AS first_capture,
    coalesce(sum(links) FILTER (NOT is_first), 0) AS removed
FROM (
    SELECT number, is_first, links, known.*, period_of(timestamp) AS period
    FROM event JOIN known ON event.moment = known.moment AND page = known.moment - of_page
    WHERE is_asked_time(timestamp)
)
GROUP BY number, period, shown_of(surt, host, domain)
ORDER BY number, period, added + first_capture + removed DESC, name
