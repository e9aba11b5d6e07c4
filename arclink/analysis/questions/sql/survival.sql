-- The share of links that live longer than a number of months, after E. L. Kaplan and P. Meier,
-- Nonparametric Estimation from Incomplete Observations (1958), in whole days. The confidence interval
-- uses Greenwood's variance on the scale log(-log share), which stays between 0 and 1: J. D. Kalbfleisch
-- and R. L. Prentice, The Statistical Analysis of Failure Time Data (2002), section 1.4.
WITH numbered AS MATERIALIZED (  -- captures, each with the times of those of the page next to it
    SELECT
        *,
        row_number() OVER (ORDER BY number, surt, page, timestamp) AS place,
        lag(timestamp) OVER earlier AS before,
        lead(timestamp) OVER earlier AS after,
        contents IS DISTINCT FROM lag(contents) OVER earlier AS has_changed
    FROM histories_of_part
    WHERE is_asked_time(timestamp)
    WINDOW earlier AS (PARTITION BY number, surt, page ORDER BY timestamp)
),
run AS (  -- captures with the same contents, one after the other
    SELECT
        host, domain, part_first, part_last, page_place, min(place) AS first, max(place) AS last,
        any_value(contents) AS contents
    FROM (
        SELECT
            *,
            min(place) OVER (PARTITION BY number, surt, page) AS page_place,
            count(*) FILTER (has_changed) OVER (PARTITION BY number, surt, page ORDER BY place) AS run
        FROM numbered
    )
    GROUP BY host, domain, part_first, part_last, page_place, run
),
life AS (  -- of a link of a page, from the first to the last capture with it
    SELECT
        page_place, name_of(target_surt, target_host, target_domain) AS name,
        min(first) AS first, max(last) AS last
    FROM (SELECT *, unnest(contents) AS content FROM run) JOIN wanted_of_part USING (content)
    WHERE name IS NOT NULL AND is_to_outside(
        target_surt, host, domain, target_host, target_domain, part_first, part_last
    )
    GROUP BY ALL
),
aged AS (
    SELECT
        born.number, period_of(born.timestamp) AS period, links,
        seconds(seen.timestamp) - seconds(born.timestamp) AS seen,
        seconds(seen.after) - seconds(born.timestamp) AS missed
    FROM (SELECT first, last, count(*) AS links FROM life GROUP BY ALL)
    JOIN numbered AS born ON born.place = first
    JOIN numbered AS seen ON seen.place = last
    WHERE NOT (getvariable('is_new') AND born.before IS NULL)
),
ended AS (  -- what was never missed was last seen alive
    SELECT
        number, period, links, missed IS NOT NULL AS is_gone,
        unnest([
            {'ending': 'earliest', 'age': seen},
            {'ending': 'middle', 'age': coalesce((seen + missed) // 2, seen)},
            {'ending': 'latest', 'age': coalesce(missed, seen)}
        ], recursive := true)
    FROM aged
),
of_day AS (
    SELECT
        number, coalesce(period, '') AS period, ending, age // 86400 AS day,
        coalesce(sum(links) FILTER (is_gone), 0)::BIGINT AS gone, sum(links)::BIGINT AS ends
    FROM ended
    GROUP BY ALL
),
at_risk AS (
    SELECT *, sum(ends) OVER (
        PARTITION BY number, period, ending ORDER BY day
        ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
    )::BIGINT AS links
    FROM of_day
),
curve AS MATERIALIZED (
    SELECT
        *, sum(gone) OVER until AS gone_until, product(1 - gone / links) OVER until AS share,
        sqrt(sum(gone / nullif(links::DOUBLE * (links - gone), 0)) OVER until) AS spread
    FROM at_risk
    WINDOW until AS (PARTITION BY number, period, ending ORDER BY day)
),
month AS (
    SELECT number, period, months, floor(months * 30.436875)::BIGINT AS day
    FROM (
        SELECT number, period, max(day) AS last, unnest(range(last // 30 + 1)) AS months
        FROM of_day
        WHERE ending = 'middle'
        GROUP BY number, period
    )
    WHERE day <= last
)
SELECT
    month.number, nullif(month.period, '') AS period, months, alive.links AS at_risk,
    coalesce(middle.gone_until, 0)::BIGINT AS gone,
    round(coalesce(middle.share, 1), 6) AS share,
    CASE WHEN middle.share > 0 AND middle.share < 1
        THEN round(middle.share ** exp(-1.959963984540054 * middle.spread / ln(middle.share)), 6)
    END AS low,
    CASE WHEN middle.share > 0 AND middle.share < 1
        THEN round(middle.share ** exp(1.959963984540054 * middle.spread / ln(middle.share)), 6)
    END AS high,
    round(coalesce(earliest.share, 1), 6) AS earliest, round(coalesce(latest.share, 1), 6) AS latest
FROM month
ASOF JOIN curve AS alive
    ON alive.ending = 'middle' AND month.number = alive.number AND month.period = alive.period
    AND month.day <= alive.day
ASOF LEFT JOIN curve AS middle
    ON middle.ending = 'middle' AND month.number = middle.number AND month.period = middle.period
    AND month.day >= middle.day
ASOF LEFT JOIN curve AS earliest
    ON earliest.ending = 'earliest' AND month.number = earliest.number
    AND month.period = earliest.period AND month.day >= earliest.day
ASOF LEFT JOIN curve AS latest
    ON latest.ending = 'latest' AND month.number = latest.number
    AND month.period = latest.period AND month.day >= latest.day
ORDER BY month.number, month.period, months
