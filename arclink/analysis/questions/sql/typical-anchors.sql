-- Terms weighed by tf-idf. A document is all texts of links to one page, host or domain, at any time
-- and of any kind; so the weights of one term in several windows differ by its use only. `frequency`
-- says in how many documents each term is (frequency-of-text.sql).
WITH used AS (FROM inlinks WHERE target_host IS NOT NULL),
terms AS MATERIALIZED (  -- of each text, and how often it has them; most links share a text
    SELECT text, term, count(*) AS times
    FROM (
        SELECT
            text, unnest(CASE getvariable('term') WHEN 'word' THEN words_of(text) ELSE [text] END) AS term
        FROM (SELECT DISTINCT text FROM to_part WHERE target_host IS NOT NULL AND text <> '')
    )
    GROUP BY ALL
),
occurring AS (
    SELECT number, period, term, sum(times)::BIGINT AS tf
    FROM (SELECT DISTINCT number, period, page, target, kind, text, rel FROM used)
        JOIN terms USING (text)
    GROUP BY ALL
),
counted AS (
    SELECT
        number, period, term,
        count(DISTINCT surt) AS pages,
        count(DISTINCT hash(page, timestamp)) AS mementos,
        count(DISTINCT host) AS hosts,
        min(timestamp) AS first, max(timestamp) AS last
    FROM used JOIN terms USING (text)
    GROUP BY ALL
)
SELECT
    occurring.number, occurring.period, occurring.term,
    round(tf * log10((SELECT df FROM frequency WHERE term IS NULL) / df), 4) AS tf_idf,
    tf, df, pages, mementos, hosts, first, last
FROM occurring
    JOIN counted ON occurring.number = counted.number AND occurring.term = counted.term
        AND occurring.period IS NOT DISTINCT FROM counted.period
    JOIN frequency ON hash(occurring.term) = frequency.term
ORDER BY occurring.number, occurring.period, tf_idf DESC, tf DESC, occurring.term
