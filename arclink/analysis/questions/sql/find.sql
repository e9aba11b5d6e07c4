-- Pages that have all words in their address, in a title, or in the text of one link to them, as
-- words_of splits these. An address has no blanks between words: there, what is between blanks of what
-- is looked for may be any part of it. Pages that were never captured count, too.
SET VARIABLE parts = list_filter(
    string_split_regex(
        strip_accents(lower(array_to_string(getvariable('words')::VARCHAR[], ' '))), '[\s*]+'
    ),
    lambda part: part <> ''
);

CREATE OR REPLACE TEMP MACRO is_in_address(uri) AS coalesce(list_bool_and(list_transform(
    getvariable('parts'), lambda part: contains(strip_accents(lower(uri)), part)
)), true);

WITH title AS MATERIALIZED (  -- see links_with_words
    SELECT title, between_blanks(title) AS blanked FROM (SELECT DISTINCT title FROM said_of_part)
),
found AS MATERIALIZED (
    SELECT number, surt, min(uri) AS name, 'address' AS found_in
    FROM said_of_part WHERE is_in_address(uri) GROUP BY ALL
    UNION ALL
    SELECT number, surt, min(uri), 'address'  -- only redirects to itself
    FROM of_part ANTI JOIN said_of_part USING (number, surt)
    WHERE is_in_address(uri)
    GROUP BY ALL
    UNION ALL
    SELECT number, surt, min(uri), 'title'
    FROM said_of_part SEMI JOIN (FROM title WHERE has_phrases(blanked)) USING (title)
    GROUP BY ALL
    UNION ALL
    SELECT number, target_surt, min(target), 'address'
    FROM said_to_part WHERE is_in_address(target) GROUP BY ALL
    UNION ALL
    SELECT number, target_surt, min(target), 'words'
    FROM links_with_words GROUP BY ALL
),
page AS MATERIALIZED (
    SELECT
        number, surt, min(name) AS name,
        list(DISTINCT found_in ORDER BY found_in) AS found_in
    FROM found
    GROUP BY ALL
),
linking AS (
    SELECT to_part.number, target_surt AS surt, count(DISTINCT said.host) AS hosts
    FROM to_part
        SEMI JOIN page ON page.number = to_part.number AND page.surt = target_surt
        JOIN said USING (content)
    WHERE is_asked_time(timestamp)
    GROUP BY ALL
),
shown AS (
    SELECT
        of_part.number, of_part.surt, count(*) AS captures,
        newest(timestamp, nullif(title, '')) AS title
    FROM of_part SEMI JOIN page USING (number, surt)
    WHERE is_asked_time(timestamp)
    GROUP BY ALL
)
SELECT
    number, name, array_to_string(found_in, ', ') AS found_in, title,
    coalesce(hosts, 0) AS hosts,
    coalesce(captures, 0) AS captures
FROM page LEFT JOIN linking USING (number, surt) LEFT JOIN shown USING (number, surt)
WHERE hosts > 0 OR captures > 0  -- known in the span
ORDER BY number, hosts DESC, captures DESC, name
