CREATE OR REPLACE TEMP TABLE answer (
    number INTEGER, period VARCHAR, text VARCHAR, state VARCHAR, pages BIGINT, hosts BIGINT
);

INSERT INTO answer
SELECT
    number, period, text,
    CASE WHEN bool_and(is_after) THEN 'came' ELSE 'went' END,
    count(DISTINCT surt),
    count(DISTINCT host)
FROM inlinks_twice
GROUP BY number, period, text
HAVING bool_and(is_after) OR NOT bool_or(is_after);

FROM answer ORDER BY number, pages DESC, text
