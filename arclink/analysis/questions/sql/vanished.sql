-- A page was there if a capture has no error. It vanished if a later capture is an error; or if it
-- is not in later periods, although pages of its host were captured in these. HTML comes first: a
-- reader looks for pages, not for their images and styles. Pages still point to it if a capture after
-- `last` shows a link; if none was read after it, that is not known.
WITH asked AS (FROM said_of_part WHERE is_asked_time(timestamp)),
page AS (
    SELECT
        number, surt, host, min(uri) AS name,
        max(timestamp) FILTER (NOT coalesce(status >= 400, false)) AS last,
        max(timestamp) AS last_capture,
        newest(timestamp, status)::SMALLINT AS status,
        newest(timestamp, CASE WHEN NOT coalesce(status >= 400, false) THEN mime END) AS mime
    FROM asked
    GROUP BY number, surt, host
),
since AS (
    SELECT number, surt, min(timestamp) AS since
    FROM page JOIN asked USING (number, surt)
    WHERE timestamp > last AND asked.status >= 400
    GROUP BY number, surt
),
counted AS (
    SELECT number, surt, count(*) AS captures
    FROM asked_captures
    GROUP BY number, surt
),
host AS (
    SELECT host, max(timestamp) AS host_last
    FROM said
    WHERE is_asked_time(timestamp) AND host IN (SELECT host FROM page)
    GROUP BY host
),
gone AS MATERIALIZED (
    SELECT
        number, surt, name,
        CASE WHEN since IS NOT NULL THEN 'error' ELSE 'not captured again' END AS state,
        mime, status, last, since, coalesce(host_last, last_capture) AS host_last, captures
    FROM page JOIN counted USING (number, surt)
        LEFT JOIN since USING (number, surt) LEFT JOIN host USING (host)
    WHERE last IS NOT NULL
        AND (since IS NOT NULL OR period_of(last_capture) < period_of(host_last))
),
pointing AS (
    SELECT gone.number, gone.surt, count(DISTINCT hash(said.surt)) AS pages
    FROM to_part
        JOIN gone ON gone.number = to_part.number AND gone.surt = target_surt
        JOIN said USING (content)
    WHERE is_asked_time(timestamp) AND timestamp > last AND said.surt <> gone.surt
    GROUP BY ALL
),
read AS (
    SELECT max(timestamp) AS read_last
    FROM said
    WHERE content IS NOT NULL AND is_asked_time(timestamp)
)
SELECT
    number, name, state, mime, status, last, since, host_last, captures,
    CASE WHEN last < read_last THEN coalesce(pages, 0) END AS pages
FROM gone LEFT JOIN pointing USING (number, surt) CROSS JOIN read
ORDER BY number, coalesce(is_html(mime), false) DESC, last DESC, name
