SELECT
    number, period,
    CASE
        WHEN contains(host, ':') OR regexp_full_match(host, '[0-9.]+') THEN 'address'
        ELSE split_part(host, '.', -1)
    END AS tld,
    count(DISTINCT domain) AS domains,
    count(DISTINCT host) AS hosts,
    count(DISTINCT surt) AS pages,
    min(timestamp) AS first, max(timestamp) AS last
FROM linking_captures
GROUP BY ALL
ORDER BY number, period, domains DESC, pages DESC, tld
