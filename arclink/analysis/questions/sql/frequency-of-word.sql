-- The same as frequency-of-text.sql for the words of texts; a text without words is in no document.
WITH document AS MATERIALIZED (
    SELECT DISTINCT hash(name_of(target_surt, target_host, target_domain)) AS document, text
    FROM links SEMI JOIN all_terms USING (text)
    WHERE name_of(target_surt, target_host, target_domain) IS NOT NULL
)
SELECT hash(term) AS term, count(DISTINCT document) AS df
FROM document JOIN all_terms USING (text)
GROUP BY hash(term)
UNION ALL
SELECT NULL, count(DISTINCT document) FROM document
