-- A graph at a level: nodes in the order of their names, and counted links between them. {source}
-- and {target} are the names of the nodes of captures and of targets; {label} and {target_label} are
-- shown for a node instead of its name; {title} is the title of a page.
CREATE TEMP TABLE nodes AS
SELECT
    name, min(label) AS label, count(timestamp) AS captures,
    coalesce(min(timestamp), 0) AS first, coalesce(max(timestamp), 0) AS last,
    arg_max(title, timestamp) FILTER (title <> '') AS title
FROM (
    SELECT {source} AS name, {label} AS label, timestamp::BIGINT AS timestamp, {title} AS title
    FROM shown
    UNION ALL
    SELECT {target}, {target_label}, NULL, NULL FROM wanted SEMI JOIN shown USING (content)
)
WHERE name IS NOT NULL
GROUP BY name
ORDER BY name;  -- their rows are their numbers

CREATE TEMP TABLE sources AS
SELECT
    content, nodes.rowid AS source, count(*) AS mementos,
    min(timestamp)::BIGINT AS first, max(timestamp)::BIGINT AS last
FROM shown LEFT JOIN nodes ON name = {source}
GROUP BY ALL;

CREATE TEMP TABLE targets AS
SELECT content, nodes.rowid AS target, sum(occurrences) AS occurrences
FROM wanted SEMI JOIN shown USING (content) LEFT JOIN nodes ON name = {target}
GROUP BY ALL;

CREATE TEMP TABLE counted AS
SELECT
    source, target, sum(mementos)::BIGINT AS mementos, min(first) AS first, max(last) AS last,
    sum(mementos * occurrences)::BIGINT AS repeated
FROM sources JOIN targets USING (content)
GROUP BY ALL;
