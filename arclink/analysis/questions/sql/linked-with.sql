-- What else the contents lead to that lead to the part. LEFT keeps DuckDB from building a hash table
-- of all links, because it takes the contents for more: of 98 million links, 79 s instead of 4. To read
-- the hosts of links and not their SURTs takes 30 % of the time.
WITH page AS MATERIALIZED (FROM linking_captures)
SELECT
    number, period, min(shown_of(target, target_host, target_domain)) AS name,
    count(DISTINCT host) AS hosts,
    count(DISTINCT surt) AS pages,
    min(timestamp) AS first, max(timestamp) AS last
FROM wanted_by_page LEFT JOIN page USING (content)
WHERE page.content IS NOT NULL
    AND getvariable('part') <> 'archive' AND CASE
        WHEN getvariable('part') = 'host' AND getvariable('number_of_parts') = 1
            THEN target_host <> getvariable('name')
        ELSE NOT is_of(target_surt, part_first, part_last)
    END
    AND name_of(target_surt, target_host, target_domain) IS NOT NULL
    AND leads_out(host, domain, target_host, target_domain)
GROUP BY number, period, name_of(target_surt, target_host, target_domain)
ORDER BY number, period, hosts DESC, pages DESC, name
