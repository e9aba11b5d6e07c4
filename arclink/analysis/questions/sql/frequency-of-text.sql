-- In how many documents each text of links is, by its hash; in the row without one, their number. A
-- document is all texts of links to one page, host or domain, at any time and of any kind.
WITH document AS (
    SELECT hash(name_of(target_surt, target_host, target_domain)) AS document, hash(text) AS term
    FROM links
    WHERE text <> '' AND name_of(target_surt, target_host, target_domain) IS NOT NULL
)
SELECT term, count(DISTINCT document) AS df FROM document GROUP BY term
UNION ALL
SELECT NULL, count(DISTINCT document) FROM document
