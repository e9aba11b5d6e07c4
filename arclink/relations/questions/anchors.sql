-- The terms of links to a part of the web, by window, with counts of these links; and, in each row,
-- counts of all that was read. Without terms there is one row for these. Further variables:
--
-- since, until         the span of the captures that show the links
-- is_in_force          only the newest captures of each page in it
--
-- terms                (a table) the terms of each text, and how often they are in it
WITH linking AS MATERIALIZED (
    SELECT
        content, target, target_surt, kind, text, rel, coalesce(written, uri) AS page, host,
        timestamp, leads_out(host, domain, target_host, target_domain) AS is_counted
    FROM wanted JOIN captures USING (content) ANTI JOIN (
        SELECT coalesce(written, uri) AS page, timestamp AS later
        FROM captures
        WHERE getvariable('is_in_force') AND timestamp <= getvariable('until')
    ) ON page = coalesce(written, uri) AND later > timestamp
    WHERE is_in_part(target_surt, target_host, target_domain)
        AND timestamp BETWEEN getvariable('since') AND getvariable('until')
),
used AS MATERIALIZED (
    SELECT *, unnest(windows_at(timestamp)) AS "window"
    FROM linking
    WHERE is_counted
),
occurring AS (
    SELECT "window", term, count(*) AS links, sum(number)::BIGINT AS occurrences
    FROM (SELECT DISTINCT "window", page, target, kind, text, rel FROM used) JOIN terms USING (text)
    GROUP BY ALL
),
counted AS (
    SELECT
        "window", term,
        count(DISTINCT content) AS contents,
        count(DISTINCT (page, timestamp)) AS mementos,
        count(DISTINCT host) AS hosts,
        min({'timestamp': timestamp, 'original': page}) AS first,
        max({'timestamp': timestamp, 'original': page}) AS last
    FROM used JOIN terms USING (text)
    GROUP BY ALL
),
document AS MATERIALIZED (  -- all texts of links to one target, at any time
    SELECT DISTINCT name_of(target_surt, target_host, target_domain) AS name, text
    FROM links SEMI JOIN terms USING (text)
    WHERE name IS NOT NULL
),
frequency AS (
    SELECT term, count(DISTINCT name) AS documents
    FROM document JOIN terms USING (text) SEMI JOIN occurring USING (term)
    GROUP BY term
),
found AS (
    SELECT
        count(*) FILTER (is_counted) AS found_links,
        count(*) FILTER (NOT is_counted) AS inner_links,
        count(*) FILTER (is_counted AND has_terms IS NULL) AS textless,
        count(DISTINCT target_surt) FILTER (is_counted) AS targets,
        count(DISTINCT target_surt) FILTER (is_counted AND is_captured) AS captured,
        (SELECT count(DISTINCT name) FROM document) AS all_documents
    FROM (SELECT DISTINCT content, target, target_surt, kind, text, rel, page, is_counted FROM linking)
    LEFT JOIN (SELECT DISTINCT text, true AS has_terms FROM terms) USING (text)
    LEFT JOIN (SELECT DISTINCT surt AS target_surt, true AS is_captured FROM captures)
        USING (target_surt)
)
SELECT *
FROM found LEFT JOIN (
    FROM occurring JOIN counted USING ("window", term) JOIN frequency USING (term)
) ON true
