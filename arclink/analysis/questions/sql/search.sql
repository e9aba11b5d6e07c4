-- Pages that have all words in their text or title, or in the text of one link to them. The score is
-- that of the words (BM25 without lengths, k = 1.2), half as much again if the title has them, and of
-- the pages whose links have them; times the logarithm of the pages that link to it in the window.
WITH said_it AS (
    SELECT
        number, period, surt, min(uri) AS name, count(*) AS captures,
        min(timestamp) AS first, max(timestamp) AS last, max(score) AS score,
        arg_max(content, (score, timestamp, content)) AS content,
        arg_max(title, (score, timestamp, content)) AS title
    FROM text_of_part JOIN found_contents USING (text_part, text_row)
    WHERE is_asked_time(timestamp)
    GROUP BY number, period, surt
),
called AS (
    SELECT number, period, target_surt AS surt, min(target) AS name, count(DISTINCT linker) AS callers
    FROM (
        SELECT number, period_of(timestamp) AS period, target_surt, target, said.surt AS linker
        FROM links_with_words JOIN said USING (content)
        WHERE is_asked_time(timestamp)
    )
    GROUP BY ALL
),
page AS MATERIALIZED (
    SELECT
        coalesce(one.number, other.number) AS number,
        coalesce(one.period, other.period) AS period,
        coalesce(one.surt, other.surt) AS surt, coalesce(one.name, other.name) AS name,
        captures, first, last, score, content, title, callers,
        has_phrases(between_blanks(title)) AS is_in_title
    FROM said_it AS one FULL JOIN called AS other ON one.number = other.number
        AND one.period IS NOT DISTINCT FROM other.period AND one.surt = other.surt
),
linking AS (
    SELECT
        number, period, target_surt AS surt,
        count(DISTINCT linker) AS pages, count(DISTINCT host) AS hosts
    FROM (
        SELECT
            number, period_of(timestamp) AS period, target_surt, said.surt AS linker, said.host
        FROM to_part SEMI JOIN page ON page.number = to_part.number AND page.surt = target_surt
            JOIN said USING (content)
        WHERE is_asked_time(timestamp)
    )
    GROUP BY ALL
)
SELECT
    page.number, page.period, name,
    round(
        (coalesce(score, 0) * CASE WHEN is_in_title THEN 1.5 ELSE 1 END + 2 * ln(1 + coalesce(callers, 0)))
        * ln(2.71828 + coalesce(pages, 0)), 3
    ) AS score,
    concat_ws(', ',
        CASE WHEN score IS NOT NULL THEN 'text' END,
        CASE WHEN is_in_title THEN 'title' END,
        CASE WHEN callers > 0 THEN 'words' END
    ) AS found_in,
    title, coalesce(pages, 0) AS pages, coalesce(hosts, 0) AS hosts,
    coalesce(captures, 0) AS captures, first, last, content AS snippet
FROM page LEFT JOIN linking ON page.number = linking.number
    AND page.period IS NOT DISTINCT FROM linking.period AND page.surt = linking.surt
ORDER BY
    page.number, page.period,
    CASE WHEN getvariable('is_by_date') THEN last END DESC NULLS LAST, score DESC, name
