-- A page was there if a capture has no error. It vanished if a later capture is an error; or if it
-- is not in later periods, although pages of its host were captured in these.
WITH page AS (
    SELECT
        number, surt, host, min(uri) AS name, count(*) AS captures,
        max(timestamp) FILTER (NOT is_error) AS last,
        max(timestamp) AS last_capture,
        arg_max(status, timestamp) AS status
    FROM (
        SELECT *, coalesce(status >= 400, false) AS is_error
        FROM of_part
        WHERE is_asked_time(timestamp)
    )
    GROUP BY number, surt, host
),
since AS (
    SELECT page.number, page.surt, min(timestamp) AS since
    FROM page JOIN of_part ON of_part.number = page.number AND of_part.surt = page.surt
    WHERE is_asked_time(timestamp) AND timestamp > last AND of_part.status >= 400
    GROUP BY ALL
),
host AS (
    SELECT number, host, max(timestamp) AS host_last
    FROM of_part
    WHERE is_asked_time(timestamp)
    GROUP BY ALL
)
SELECT
    number, name,
    CASE WHEN since IS NOT NULL THEN 'error' ELSE 'not captured again' END AS state,
    CASE WHEN since IS NOT NULL THEN status END AS status,
    last, since, host_last, captures
FROM page LEFT JOIN since USING (number, surt) LEFT JOIN host USING (number, host)
WHERE last IS NOT NULL
    AND (since IS NOT NULL OR period_of(last_capture) < period_of(host_last))
ORDER BY number, last DESC, name
