-- What else the contents lead to that lead to the part.
WITH linking AS MATERIALIZED (
    SELECT DISTINCT number, content, surt, host, timestamp, period FROM inlinks
)
SELECT
    number, period, min(shown_of(target, target_host, target_domain)) AS name,
    count(DISTINCT host) AS hosts,
    count(DISTINCT surt) AS pages,
    min(timestamp) AS first, max(timestamp) AS last
FROM linking JOIN wanted USING (content) ANTI JOIN to_part USING (number, target_surt)
WHERE name_of(target_surt, target_host, target_domain) IS NOT NULL
GROUP BY number, period, name_of(target_surt, target_host, target_domain)
ORDER BY number, period, hosts DESC, pages DESC, name
