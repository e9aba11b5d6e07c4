-- The first capture with all words of each page, host or domain, and the last capture of that page
-- before whose text is known to its end and lacks one.
WITH history AS MATERIALIZED (
    SELECT
        number, surt, uri, host, domain, timestamp, content, title, is_cut,
        (text_part, text_row) IN (SELECT (text_part, text_row) FROM found_contents) AS says
    FROM text_of_part_ever
),
page AS (
    SELECT
        number, surt, shown_of(min(uri), host, domain) AS name, min(timestamp) AS first,
        arg_min({'page': uri, 'content': content, 'title': title}, (timestamp, uri, content)) AS capture
    FROM history
    WHERE says
    GROUP BY number, surt, host, domain
),
named AS (
    SELECT number, name, min(first) AS first, arg_min({'surt': surt, 'of': capture}, (first, surt)) AS page
    FROM page
    GROUP BY number, name
)
SELECT
    number, period_of(first) AS period, name, first, last_without,
    page.of.page AS page, page.of.title AS title, page.of.content AS snippet
FROM (
    SELECT named.*, max(timestamp) AS last_without
    FROM named LEFT JOIN history ON history.number = named.number AND history.surt = page.surt
        AND NOT says AND NOT is_cut AND timestamp < first
    GROUP BY ALL
)
WHERE is_asked_time(first)
ORDER BY number, period, first, name
