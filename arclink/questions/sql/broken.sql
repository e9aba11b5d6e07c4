SELECT
    number, period, min(shown_of(target, target_host, target_domain)) AS name,
    CASE WHEN any_value(captures) IS NULL THEN 'never captured' ELSE 'only errors' END AS state,
    any_value(captured.status) AS status,
    count(DISTINCT host) AS hosts,
    count(DISTINCT surt) AS pages,
    min(timestamp) AS first, max(timestamp) AS last
FROM inlinks LEFT JOIN captured ON captured.name = name_of(target_surt, target_host, target_domain)
WHERE name_of(target_surt, target_host, target_domain) IS NOT NULL
    AND (captures IS NULL OR captured.is_error)
GROUP BY number, period, name_of(target_surt, target_host, target_domain)
ORDER BY number, period, hosts DESC, pages DESC, name
