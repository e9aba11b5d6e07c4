SELECT
    number, period, min(shown_of(target, target_host, target_domain)) AS name,
    count(DISTINCT host) AS hosts,
    count(DISTINCT surt) AS pages,
    min(timestamp) AS first, max(timestamp) AS last,
    coalesce(any_value(captures), 0) AS captures
FROM inlinks LEFT JOIN captured ON captured.name = name_of(target_surt, target_host, target_domain)
WHERE name_of(target_surt, target_host, target_domain) IS NOT NULL
GROUP BY number, period, name_of(target_surt, target_host, target_domain)
ORDER BY number, period, hosts DESC, pages DESC, name
