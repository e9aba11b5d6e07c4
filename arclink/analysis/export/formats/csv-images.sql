-- imagegraph() of the Archives Unleashed Toolkit: a row per memento and image.
INSERT INTO csv
SELECT timestamp AS crawl_date, url AS src, target AS image_url, nullif(text, '') AS alt_text
FROM (SELECT *, unnest(range(occurrences)) FROM wanted) JOIN shown USING (content);
