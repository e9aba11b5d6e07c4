-- A page, host or domain counts if it links to each of the parts, at any time of the span.
SELECT
    period, min(shown_of(uri, host, domain)) AS name,
    count(DISTINCT hash(page, target_surt, kind, text, rel)) AS links,
    count(DISTINCT surt) AS pages,
    min(timestamp) AS first, max(timestamp) AS last
FROM inlinks
GROUP BY period, shown_of(surt, host, domain)
HAVING count(DISTINCT number) = getvariable('number_of_parts')
ORDER BY period, links DESC, name
