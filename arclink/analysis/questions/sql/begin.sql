-- Pages that a person would read, the one of each host that most hosts link to first, then the second
-- one of each host, and so on: so the first rows are about different hosts. Pages that no captured
-- page links to come last.
CREATE OR REPLACE TEMP MACRO is_for_readers(content, status, mime) AS
    content IS NOT NULL AND status BETWEEN 200 AND 299 AND is_html(mime);

CREATE OR REPLACE TEMP TABLE linking (number INTEGER, surt VARCHAR, hosts BIGINT, pages BIGINT);

INSERT INTO linking
SELECT number, any_value(target_surt), count(DISTINCT host), count(DISTINCT surt)
FROM (
    SELECT number, target_surt, hash(target_surt) AS key, host, surt
    FROM counted_inlinks
    WHERE target_surt IN (SELECT surt FROM said_of_part WHERE is_for_readers(content, status, mime))
)
GROUP BY number, key;

CREATE OR REPLACE TEMP TABLE placed AS
WITH page AS MATERIALIZED (
    SELECT
        number, surt, any_value(host) AS host, name_of_page(uri, leads_to_itself) AS name,
        newest(timestamp, nullif(title, '')) AS title,
        count(*) AS captures,
        max(timestamp) FILTER (is_for_readers(content, shown_status, shown_mime)) AS last
    FROM of_part
    WHERE is_asked_time(timestamp)
    GROUP BY number, surt
    HAVING last IS NOT NULL
)
SELECT
    number, surt, name, title, captures, last,
    coalesce(hosts, 0) AS hosts,
    coalesce(pages, 0) AS pages,
    row_number() OVER (
        PARTITION BY number, host ORDER BY coalesce(hosts, 0) DESC, coalesce(pages, 0) DESC, name
    ) AS place
FROM page LEFT JOIN linking USING (number, surt)
QUALIFY place <= 10;

CREATE OR REPLACE TEMP TABLE wording (number INTEGER, surt VARCHAR, text VARCHAR);

INSERT INTO wording
SELECT number, surt, text
FROM (
    SELECT DISTINCT link.number, target_surt AS surt, text, link.surt AS page
    FROM counted_inlinks AS link
        SEMI JOIN placed ON placed.number = link.number AND placed.surt = target_surt
    WHERE text <> ''
)
GROUP BY number, surt, text
QUALIFY row_number() OVER (PARTITION BY number, surt ORDER BY count(*) DESC, text) = 1;

SELECT number, name, title, text, hosts, pages, captures, last
FROM placed LEFT JOIN wording USING (number, surt)
ORDER BY number, pages = 0, place, hosts DESC, pages DESC, name
