-- How many captures have each term, of all whose text is known.
WITH known AS (
    SELECT number, period, count(*) AS captures
    FROM text_of_part
    WHERE is_asked_time(timestamp)
    GROUP BY ALL
),
said_it AS (
    SELECT number, period, term, count(*) AS said, count(DISTINCT surt) AS pages
    FROM text_of_part JOIN found_terms USING (text_part, text_row)
    WHERE is_asked_time(timestamp)
    GROUP BY ALL
),
asked AS (
    SELECT unnest(getvariable('words')) AS term, generate_subscripts(getvariable('words'), 1) - 1 AS place
)
SELECT
    known.number, known.period, asked.term, coalesce(said, 0) AS said,
    round(100 * coalesce(said, 0) / known.captures, 3) AS percent, coalesce(pages, 0) AS pages
FROM known CROSS JOIN asked LEFT JOIN said_it ON said_it.number = known.number
    AND said_it.period IS NOT DISTINCT FROM known.period AND said_it.term = asked.place
ORDER BY known.number, known.period, place
