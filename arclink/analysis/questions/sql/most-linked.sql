CREATE OR REPLACE TEMP TABLE answer (
    number INTEGER, period VARCHAR, name VARCHAR, hosts BIGINT, pages BIGINT, first VARCHAR,
    last VARCHAR, captures BIGINT
);

INSERT INTO answer
SELECT
    number, period, counted.name, hosts, pages, time_of(first), time_of(last),
    coalesce(captures, 0)
FROM (
    SELECT
        number, period, key, min(name) AS name,
        count(DISTINCT host) AS hosts,
        count(DISTINCT surt) AS pages,
        min(timestamp) AS first, max(timestamp) AS last
    FROM counted_targets
    GROUP BY number, period, key
) AS counted LEFT JOIN captured ON key(captured.name) = key;

FROM answer ORDER BY number, period, hosts DESC, pages DESC, name
