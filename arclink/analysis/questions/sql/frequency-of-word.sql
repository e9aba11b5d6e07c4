-- The same as frequency-of-text.sql for the words of texts; a text without words is in no document.
-- Most links share a text, which is split once.
WITH document AS MATERIALIZED (
    SELECT DISTINCT hash(name_of(target_surt, target_host, target_domain)) AS document, text
    FROM links
    WHERE text <> '' AND name_of(target_surt, target_host, target_domain) IS NOT NULL
),
term AS MATERIALIZED (
    SELECT text, hash(unnest(list_distinct(words_of(text)))) AS term
    FROM (SELECT DISTINCT text FROM document)
)
SELECT term, count(DISTINCT document) AS df FROM document JOIN term USING (text) GROUP BY term
UNION ALL
SELECT NULL, count(DISTINCT document) FROM document SEMI JOIN term USING (text)
