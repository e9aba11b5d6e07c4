-- The first link of each page, host or domain, and the last capture of its page before that which
-- is known to have none.
WITH first_link AS (
    SELECT
        number, shown_of(page, host, domain) AS name, min({
            'time': timestamp, 'page': page, 'target': target, 'kind': kind, 'text': text
        }) AS link
    FROM inlinks_ever
    GROUP BY ALL
)
SELECT
    number, period_of(link.time) AS period, name, link.time AS first, last_without,
    link.page AS page, link.text AS text, link.target AS target
FROM (
    SELECT first_link.*, max(timestamp) AS last_without
    FROM first_link LEFT JOIN said
        ON coalesce(written, uri) = link.page AND method IS NULL AND timestamp < link.time
        AND is_known(content, status)
    GROUP BY ALL
)
WHERE is_asked_time(link.time)
ORDER BY number, period, first, name
