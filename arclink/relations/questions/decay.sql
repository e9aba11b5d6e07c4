-- How many links ended at each age in days, by cohort, for three assumed ends; and how many were
-- last seen at that age (censored). The sum of the gaps is that of the links that are gone.
WITH capture AS MATERIALIZED (FROM numbered),
aged AS (
    SELECT
        unnest(windows_at(born.timestamp)) AS cohort, links,
        seconds(seen.timestamp) - seconds(born.timestamp) AS seen,
        seconds(seen.after) - seconds(born.timestamp) AS missed
    FROM (SELECT first, last, count(*) AS links FROM lives GROUP BY ALL)
    JOIN capture AS born ON born.number = first
    JOIN capture AS seen ON seen.number = last
    WHERE NOT (getvariable('only_new') AND born.before IS NULL)
),
ended AS (
    SELECT cohort, links, unnest(CASE
        WHEN missed IS NULL THEN [{'ending': 'censored', 'age': seen, 'gap': 0}]
        ELSE [
            {'ending': 'earliest', 'age': seen, 'gap': 0},
            {'ending': 'middle', 'age': (seen + missed) // 2, 'gap': missed - seen},
            {'ending': 'latest', 'age': missed, 'gap': 0}
        ]
    END, recursive := true)
    FROM aged
)
SELECT
    cohort, ending, age // 86400 AS days,
    sum(links)::BIGINT AS links, sum(gap * links)::BIGINT AS gap_seconds
FROM ended
GROUP BY ALL
ORDER BY ALL
