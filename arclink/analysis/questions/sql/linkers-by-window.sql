-- The rows of `linkers` in windows of time, and further ones: what has a row in one window has one in
-- each, those with most links first (`most_named`). In a window of `every_window` in which it has no
-- row, it has 0 links if some of its captures have known links (`read`); else null, for unknown.
-- `captures` and `read` are those of the name in the window.
WITH shown AS MATERIALIZED (
    FROM answer
    QUALIFY getvariable('most_rows') = 0 OR getvariable('most_rows')
        >= row_number() OVER (PARTITION BY number, period ORDER BY links DESC, name)
),
named AS MATERIALIZED (
    SELECT number, linker, min(name) AS name
    FROM shown
    WHERE name IS NOT NULL
    GROUP BY number, linker
    ORDER BY max(links) DESC, name, number
    LIMIT getvariable('most_named')
),
known AS MATERIALIZED (
    SELECT
        linker, period, count(*) AS captures,
        count(*) FILTER (is_counted(content, status, leads_to_itself)) AS read
    FROM (
        SELECT
            hash(shown_of(surt, host, domain)) AS linker, period_of(timestamp) AS period, content,
            status, leads_to_itself
        FROM captures
        WHERE is_asked_time(timestamp)
    ) SEMI JOIN named USING (linker)
    GROUP BY ALL
),
added AS (
    SELECT number, period, name, coalesce(captures, 0) AS captures, coalesce(read, 0) AS read
    FROM (SELECT *, unnest(getvariable('every_window')) AS period FROM named)
        ANTI JOIN answer USING (number, linker, period)
        LEFT JOIN known USING (linker, period)
)
SELECT number, period, name, links, pages, mementos, first, last, captures, read
FROM shown LEFT JOIN known USING (linker, period)
UNION ALL
SELECT number, period, name, links, links, links, null, null, captures, read
FROM (SELECT *, CASE WHEN read > 0 THEN 0 END AS links FROM added)
ORDER BY number, period, links DESC NULLS LAST, name
