CREATE OR REPLACE TEMP TABLE answer (
    number INTEGER, period VARCHAR, text VARCHAR, links BIGINT, contents BIGINT, pages BIGINT,
    mementos BIGINT, hosts BIGINT, first VARCHAR, last VARCHAR, kinds VARCHAR
);

INSERT INTO answer
SELECT
    number, period, text,
    count(DISTINCT link),
    count(DISTINCT content),
    count(DISTINCT surt),
    count(DISTINCT memento),
    count(DISTINCT host),
    time_of(min(timestamp)), time_of(max(timestamp)),
    array_to_string(list_sort(list(DISTINCT kind)), ' ')
FROM (
    SELECT
        number, period, text, kind, hash(page, target_surt, kind, rel) AS link, content, surt, host,
        hash(page, timestamp) AS memento, timestamp
    FROM counted_inlinks
)
GROUP BY number, period, text;

FROM answer ORDER BY number, period, links DESC, text
