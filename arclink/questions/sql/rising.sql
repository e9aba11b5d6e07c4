SELECT
    number, period, min(shown_of(target, target_host, target_domain)) AS name,
    count(DISTINCT surt) FILTER (is_after) AS pages,
    count(DISTINCT surt) FILTER (NOT is_after) AS pages_before,
    count(DISTINCT host) FILTER (is_after) AS hosts,
    count(DISTINCT host) FILTER (NOT is_after) AS hosts_before
FROM inlinks_twice
WHERE name_of(target_surt, target_host, target_domain) IS NOT NULL
GROUP BY number, name_of(target_surt, target_host, target_domain), period
HAVING pages > pages_before
ORDER BY number, pages - pages_before DESC, name
