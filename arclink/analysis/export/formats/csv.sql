-- webgraph() of the Archives Unleashed Toolkit: a row per memento and link, repetitions included.
INSERT INTO csv
SELECT timestamp AS crawl_date, url AS src, target AS dest, nullif(text, '') AS anchor
FROM (SELECT *, unnest(range(occurrences)) FROM wanted) JOIN shown USING (content);
