CREATE OR REPLACE TEMP TABLE answer (
    number INTEGER, period VARCHAR, text VARCHAR, links BIGINT, pages BIGINT, hosts BIGINT,
    first VARCHAR, last VARCHAR
);

INSERT INTO answer
SELECT
    number, period, text,
    count(DISTINCT link),
    count(DISTINCT surt),
    count(DISTINCT host),
    time_of(min(timestamp)), time_of(max(timestamp))
FROM (
    SELECT number, period, text, hash(page, target_surt, kind, rel) AS link, surt, host, timestamp
    FROM counted_inlinks
)
GROUP BY number, period, text;

FROM answer ORDER BY number, period, links DESC, text
