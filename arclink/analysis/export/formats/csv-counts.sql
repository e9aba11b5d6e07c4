-- DomainGraphExtractor of the Archives Unleashed Toolkit: numbers of links by day, between nodes of
-- a level: host or domain.
CREATE TEMP TABLE counts AS
SELECT
    left(timestamp, 8) AS crawl_date, {level} AS source, target_{level} AS target,
    sum(occurrences)::BIGINT AS count
FROM wanted JOIN shown USING (content)
GROUP BY ALL;

INSERT INTO csv
SELECT crawl_date, source AS src_{level}, target AS dest_{level}, count
FROM counts
WHERE source IS NOT NULL AND target IS NOT NULL AND count >= getvariable('min_count')
ORDER BY ALL;
