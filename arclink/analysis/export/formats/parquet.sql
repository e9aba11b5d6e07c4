-- A row per link of a content as one page shows it, with its mementos in a list.
--
-- A row per memento would multiply the number of links by that of mementos; where such rows are
-- needed, unnest(timestamps) makes them. If several contents of a page have a link, there is one
-- row per content.
CREATE TEMP TABLE pages AS
SELECT
    url, written, surt, host, domain, content, count(*)::INTEGER AS mementos, min(time) AS first,
    max(time) AS last, list(time ORDER BY time) AS timestamps,
    row_number() OVER (ORDER BY surt, url, written, min(time), content) AS page
FROM shown
GROUP BY url, written, surt, host, domain, content;

-- Links of a page compress well together. They are sorted without what is known of their page.
INSERT INTO parquet
SELECT
    url AS source,
    surt AS source_surt,
    coalesce(host, '') AS source_host,
    coalesce(domain, '') AS source_domain,
    written AS source_written,
    target,
    target_surt,
    coalesce(target_host, '') AS target_host,
    coalesce(target_domain, '') AS target_domain,
    kind, text, rel, content, mementos, first, last, timestamps
FROM (
    SELECT page, target, target_surt, target_host, target_domain, kind, text, rel
    FROM wanted JOIN pages USING (content)
    ORDER BY page, position
) JOIN pages USING (page);
