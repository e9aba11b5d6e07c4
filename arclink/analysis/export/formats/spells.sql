-- The spells of links between nodes of a picture, after links.sql: each spell of each page once, in
-- the order of pairs and days, which are numbered from 0001-01-01 as 1. `picture_nodes` has places and
-- names of the nodes, `picture_links` the places of both ends. Variable: until_next, whether a spell
-- lasts until the next capture without the link, or else until the last one with it.
CREATE OR REPLACE TEMP MACRO day_of(time) AS datediff('day', DATE '0001-01-01', time::DATE) + 1;

-- The captures of each page; those of one second together. Without until_next, only those whose links
-- are known: others do not show whether a link was gone. A redirect of a page to itself says nothing
-- about the page and is never in force: it is a history of its own, of one day.
CREATE TEMP TABLE moments AS
SELECT
    *, row_number() OVER of_page AS number, lead(day) OVER of_page AS next_day
FROM (
    SELECT
        (coalesce(written, uri), CASE WHEN leads_to_itself THEN timestamp END) AS page,
        place AS source, timestamp, day_of(any_value(time)) AS day,
        list(DISTINCT content) FILTER (content IS NOT NULL) AS contents
    FROM captures JOIN picture_nodes ON name = {source}
    WHERE timestamp BETWEEN getvariable('first') AND getvariable('last')
        AND (getvariable('until_next') OR is_known(content, shown_status))
    GROUP BY ALL
)
WINDOW of_page AS (PARTITION BY page ORDER BY timestamp);

CREATE TEMP TABLE linked AS
SELECT DISTINCT content, place AS target
FROM wanted JOIN picture_nodes ON name = {target};

CREATE TEMP TABLE runs AS  -- moments of a page with the link, one after the other
SELECT
    page, source, target, min(number) AS first, max(number) AS last
FROM (
    SELECT *, number - row_number() OVER (PARTITION BY page, target ORDER BY number) AS run
    FROM (
        SELECT DISTINCT page, number, source, target
        FROM (SELECT page, number, source, unnest(contents) AS content FROM moments)
            JOIN linked USING (content)
            SEMI JOIN picture_links USING (source, target)
    )
)
GROUP BY page, source, target, run;

SELECT DISTINCT
    source, target, begin.day AS first_day,
    CASE
        WHEN getvariable('until_next') AND page[2] IS NULL THEN ended.next_day
        ELSE ended.day
    END AS last_day
FROM runs
    JOIN (SELECT page, number AS first, day FROM moments) AS begin USING (page, first)
    JOIN (SELECT page, number AS last, day, next_day FROM moments) AS ended USING (page, last)
ORDER BY source, target, first_day
