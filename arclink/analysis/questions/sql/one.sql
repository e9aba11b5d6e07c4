-- One part of the web.
CREATE OR REPLACE TEMP VIEW asked_part AS
SELECT 0 AS number, getvariable('first') AS part_first, getvariable('place') AS place;

CREATE OR REPLACE TEMP VIEW all_to_part AS
SELECT
    0 AS number, getvariable('first') AS part_first, getvariable('last') AS part_last, *
FROM wanted
WHERE is_in_part(target_surt, target_host, target_domain);

-- DuckDB takes the links to any part for 20 % of all links, and the limit says how many there are. So
-- it looks for their contents among the captures, and makes no hash table of all captures. Nothing
-- passes a limit, not even an unknown one: slices need to leave links unread.
CREATE OR REPLACE TEMP VIEW to_part AS
FROM all_to_part WHERE getvariable('links_of_part') IS NULL
UNION ALL
(FROM all_to_part WHERE getvariable('links_of_part') IS NOT NULL LIMIT getvariable('links_of_part'));

CREATE OR REPLACE TEMP VIEW of_part AS
SELECT
    0 AS number, getvariable('first') AS part_first, getvariable('last') AS part_last, *
FROM captures
WHERE is_in_part(surt, host, domain);

CREATE OR REPLACE TEMP VIEW of_any_part AS FROM of_part;
