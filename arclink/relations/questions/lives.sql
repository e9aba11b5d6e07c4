-- The captures of `histories` by number, each with the times of the captures of the page before and
-- after it. is_new: its contents differ from those of the capture before.
CREATE OR REPLACE TEMP VIEW numbered AS
SELECT
    *,
    row_number() OVER (ORDER BY surt, page, timestamp) AS number,
    lag(timestamp) OVER earlier AS before,
    lead(timestamp) OVER earlier AS after,
    contents IS DISTINCT FROM lag(contents) OVER earlier AS is_new
FROM histories
WINDOW earlier AS (PARTITION BY surt, page ORDER BY timestamp);

-- Each link of a page: the name of its target, and the numbers of the first and the last capture
-- with it. A link that was missing in between counts as one.
CREATE OR REPLACE TEMP VIEW lives AS
WITH run AS (  -- captures with the same contents, one after the other
    SELECT
        host, domain, page_number, min(number) AS first, max(number) AS last,
        any_value(contents) AS contents
    FROM (
        SELECT
            *,
            min(number) OVER (PARTITION BY surt, page) AS page_number,
            count(*) FILTER (is_new) OVER (PARTITION BY surt, page ORDER BY number) AS run
        FROM numbered
    )
    GROUP BY host, domain, page_number, run
)
SELECT page_number, name, min(first) AS first, max(last) AS last
FROM (SELECT *, unnest(contents) AS content FROM run) JOIN targets USING (content)
WHERE leads_out(host, domain, target_host, target_domain)
GROUP BY ALL;
