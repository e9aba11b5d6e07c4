CREATE OR REPLACE TEMP TABLE answer (
    number INTEGER, period VARCHAR, name VARCHAR, pages BIGINT, pages_before BIGINT, hosts BIGINT,
    hosts_before BIGINT
);

INSERT INTO answer
SELECT
    number, period, min(name),
    count(DISTINCT surt) FILTER (is_after) AS pages,
    count(DISTINCT surt) FILTER (NOT is_after) AS pages_before,
    count(DISTINCT host) FILTER (is_after) AS hosts,
    count(DISTINCT host) FILTER (NOT is_after) AS hosts_before
FROM (
    SELECT
        number, period, hash(name_of(target_surt, target_host, target_domain)) AS key,
        shown_of(target, target_host, target_domain) AS name, surt, host, is_after
    FROM inlinks_twice
    WHERE name_of(target_surt, target_host, target_domain) IS NOT NULL
)
GROUP BY number, period, key
HAVING pages > pages_before;

FROM answer ORDER BY number, pages - pages_before DESC, name
