SELECT
    number, period, text,
    CASE WHEN bool_and(is_after) THEN 'came' ELSE 'went' END AS state,
    count(DISTINCT surt) AS pages,
    count(DISTINCT host) AS hosts
FROM inlinks_twice
GROUP BY number, period, text
HAVING bool_and(is_after) OR NOT bool_or(is_after)
ORDER BY number, pages DESC, text
