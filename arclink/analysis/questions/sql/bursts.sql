-- Bursts of words by the two states of Kleinberg (2002): a word is said on a page with its usual
-- probability, or with twice that. To enter a burst costs the logarithm of the number of windows. A
-- page counts once in each window, with its first capture there.
--
-- What stands on more than half of a host's pages in a window is its menu, and is left out there at
-- all times: else a new design would be the greatest burst.
CREATE OR REPLACE TEMP TABLE counted_words AS
WITH page AS (
    SELECT number, period, surt, host, arg_min(content, (timestamp, content)) AS content
    FROM text_of_part
    WHERE is_asked_time(timestamp)
    GROUP BY ALL
),
counted AS (
    SELECT number, period, host, word, sum(shown)::BIGINT AS pages
    FROM (SELECT number, period, host, content, count(*) AS shown FROM page GROUP BY ALL)
        JOIN (FROM words WHERE times IS NOT NULL) USING (content)
    GROUP BY ALL
),
of_host AS (SELECT number, period, host, count(*) AS pages FROM page GROUP BY ALL),
menu AS (
    SELECT DISTINCT number, host, word
    FROM counted JOIN of_host USING (number, period, host)
    WHERE of_host.pages >= 4 AND counted.pages > of_host.pages / 2
),
said_it AS (
    SELECT number, word, period, sum(pages) AS said
    FROM counted ANTI JOIN menu USING (number, host, word)
    GROUP BY ALL
),
of_window AS (
    SELECT
        number, period, sum(pages) AS pages, row_number() OVER by_time AS step,
        sum(sum(pages)) OVER of_all AS of_all, count(*) OVER of_all AS steps
    FROM of_host
    GROUP BY number, period
    WINDOW by_time AS (PARTITION BY number ORDER BY period), of_all AS (PARTITION BY number)
),
usual AS (
    SELECT
        number, word, sum(said) / any_value(of_all) AS usual, any_value(ln(steps)) AS price,
        least(0.999, 2 * usual) AS more
    FROM said_it JOIN of_window USING (number, period)
    GROUP BY ALL
    HAVING max(said) >= 4
)
SELECT
    number, word, price, usual, step, period, coalesce(said, 0) AS said, pages,
    -(coalesce(said, 0) * ln(usual) + (pages - coalesce(said, 0)) * ln(1 - usual)) AS as_usual,
    -(coalesce(said, 0) * ln(more) + (pages - coalesce(said, 0)) * ln(1 - more)) AS as_burst
FROM usual JOIN of_window USING (number) LEFT JOIN said_it USING (number, word, period)
WHERE usual < 0.5;

-- The cheapest states up to each window, if the last one is the usual one (`calm`) or a burst.
WITH RECURSIVE cheapest AS (
    SELECT
        number, word, step, as_usual AS calm, price + as_burst AS burst, '0' AS if_calm, '1' AS if_burst
    FROM counted_words
    WHERE step = 1
    UNION ALL
    SELECT
        number, word, one.step, least(calm, burst) + as_usual, least(calm + price, burst) + as_burst,
        CASE WHEN burst < calm THEN if_burst ELSE if_calm END || '0',
        CASE WHEN burst < calm + price THEN if_burst ELSE if_calm END || '1'
    FROM cheapest JOIN counted_words AS one USING (number, word)
    WHERE one.step = cheapest.step + 1
),
states AS (
    SELECT number, word, CASE WHEN burst < calm THEN if_burst ELSE if_calm END AS states
    FROM cheapest JOIN (SELECT number, max(step) AS step FROM counted_words GROUP BY number)
        USING (number, step)
),
in_burst AS (
    SELECT *, step - row_number() OVER (PARTITION BY number, word ORDER BY step) AS burst
    FROM counted_words JOIN states USING (number, word)
    WHERE states[step] = '1'
)
SELECT
    number, word AS term, min(period) AS begins, max(period) AS ends,
    round(sum(as_usual - as_burst), 3) AS weight,
    round(100 * sum(said) / sum(pages), 3) AS percent, round(100 * any_value(usual), 3) AS usual,
    sum(said)::BIGINT AS said, sum(pages)::BIGINT AS pages
FROM in_burst
GROUP BY number, word, burst
ORDER BY number, weight DESC, term, begins
