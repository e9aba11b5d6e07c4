CREATE OR REPLACE TEMP TABLE answer (
    number INTEGER, period VARCHAR, name VARCHAR, state VARCHAR, status SMALLINT, hosts BIGINT,
    pages BIGINT, first VARCHAR, last VARCHAR
);

INSERT INTO answer
SELECT
    number, period, counted.name,
    CASE WHEN is_error IS NULL THEN 'never captured' ELSE 'only errors' END,
    status, hosts, pages, time_of(first), time_of(last)
FROM (
    SELECT
        number, period, key, min(counted_targets.name) AS name,
        count(DISTINCT host) AS hosts,
        count(DISTINCT surt) AS pages,
        min(timestamp) AS first, max(timestamp) AS last
    FROM counted_targets
        ANTI JOIN (FROM captured WHERE NOT is_error) AS good ON key(good.name) = key
    GROUP BY number, period, key
) AS counted LEFT JOIN captured ON key(captured.name) = key;

FROM answer ORDER BY number, period, hosts DESC, pages DESC, name
