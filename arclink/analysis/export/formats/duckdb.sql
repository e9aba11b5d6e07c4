-- The two relations as tables of one database file, and views of frequent questions.

CREATE TABLE captures AS FROM memory.captures;
CREATE TABLE links AS FROM memory.links;

-- The graph of pages: a row per capture and link.
CREATE VIEW page_links AS
SELECT
    c.uri AS source, c.surt AS source_surt, c.host AS source_host, c.domain AS source_domain,
    c.time, c.status, l.target, l.target_surt, l.target_host, l.target_domain, l.kind, l.text,
    l.rel, l.position, l.occurrences
FROM captures AS c JOIN links AS l USING (content);

-- Which hosts have linked to which, ever.
CREATE VIEW host_links AS
SELECT
    c.host AS source_host, l.target_host,
    count(DISTINCT c.surt) AS pages, count(*) AS links, min(c.time) AS first, max(c.time) AS last
FROM captures AS c JOIN links AS l USING (content)
WHERE c.host <> l.target_host
GROUP BY ALL;

-- Pages that were linked to, but never captured.
CREATE VIEW never_captured AS
SELECT
    l.target_surt, any_value(l.target) AS target, count(DISTINCT c.surt) AS pages,
    min(c.time) AS first, max(c.time) AS last
FROM captures AS c JOIN links AS l USING (content)
WHERE l.target_surt NOT IN (SELECT surt FROM captures)
GROUP BY l.target_surt;
