-- Pages that a person would read, the one of each host that most hosts link to first, then the second
-- one of each host, and so on: so the first rows are about different hosts.
WITH page AS MATERIALIZED (
    SELECT
        number, surt, any_value(host) AS host, min(uri) AS name,
        newest(timestamp, nullif(title, '')) AS title,
        count(*) AS captures,
        max(timestamp) FILTER (
            content IS NOT NULL AND status BETWEEN 200 AND 299
            AND is_html(mime)
        ) AS last
    FROM of_part
    WHERE is_asked_time(timestamp)
    GROUP BY number, surt
    HAVING last IS NOT NULL
),
linking AS (
    SELECT
        number, target_surt AS surt,
        count(DISTINCT host) AS hosts,
        count(DISTINCT surt) AS pages
    FROM inlinks
    GROUP BY number, target_surt
),
placed AS MATERIALIZED (
    SELECT
        number, surt, name, title, captures, last,
        coalesce(hosts, 0) AS hosts,
        coalesce(pages, 0) AS pages,
        row_number() OVER (
            PARTITION BY number, host ORDER BY coalesce(hosts, 0) DESC, coalesce(pages, 0) DESC, name
        ) AS place
    FROM page LEFT JOIN linking USING (number, surt)
    QUALIFY place <= 10
),
said AS (
    SELECT inlinks.number, target_surt AS surt, text
    FROM inlinks SEMI JOIN placed ON placed.number = inlinks.number AND placed.surt = target_surt
    WHERE text <> ''
    GROUP BY inlinks.number, target_surt, text
    QUALIFY row_number() OVER (
        PARTITION BY inlinks.number, target_surt ORDER BY count(DISTINCT inlinks.surt) DESC, text
    ) = 1
)
SELECT number, name, title, text, hosts, pages, captures, last
FROM placed LEFT JOIN said USING (number, surt)
ORDER BY number, place, hosts DESC, pages DESC, name
