-- Hosts (or domains) that are almost the one asked about; and at the level of pages, pages of that
-- host with almost this path, and pages with this path at a host that is almost this one. The host
-- of a part is asked about by its first page.
CREATE OR REPLACE TEMP MACRO most_letters(text) AS least(3, greatest(1, length(text) // 3));

CREATE OR REPLACE TEMP MACRO site_of(surt) AS split_part(surt, ')', 1);
CREATE OR REPLACE TEMP MACRO path_of(surt) AS surt[length(site_of(surt)) + 1:];

-- The lengths first: letters are counted for few, and not in long texts. That takes time with the
-- square of the length, and DuckDB does not stop meanwhile.
CREATE OR REPLACE TEMP MACRO letters_between(one, other) AS CASE
    WHEN length(one) <= 200 AND abs(length(one) - length(other)) <= most_letters(one)
    THEN nullif(levenshtein(one, other), 0)
END;

CREATE OR REPLACE TEMP MACRO place_of(host, domain) AS
    CASE getvariable('level') WHEN 'domain' THEN domain ELSE host END;

WITH known AS NOT MATERIALIZED (
    SELECT surt, host, domain, uri, leads_to_itself, 1 AS captures FROM captures
    UNION ALL
    SELECT target_surt, target_host, target_domain, target, false, 0
    FROM wanted ANTI JOIN says_nothing USING (content)
),
asked AS MATERIALIZED (
    SELECT
        number, place, site_of(part_first) AS site,
        path_of(part_first) || CASE WHEN ends_with(part_first, ')') THEN '/' ELSE '' END AS path
    FROM asked_part
    WHERE place <> ''
),
other_place AS MATERIALIZED (
    SELECT number, path, name, letters_between(place, name) AS letters, captures
    FROM asked CROSS JOIN (
        SELECT place_of(host, domain) AS name, sum(captures) AS captures FROM known GROUP BY ALL
    )
    WHERE letters <= most_letters(place)
),
other_path AS (
    SELECT number, name, letters_between(path, path_of(surt)) AS letters, captures
    FROM asked JOIN (
        SELECT
            surt, name_of_page(uri, leads_to_itself) AS name, sum(captures) AS captures
        FROM known
        WHERE surt BETWEEN site_of(getvariable('first')) AND site_of(getvariable('last')) || '*'
        GROUP BY surt
    ) ON site = site_of(surt)
    WHERE letters <= most_letters(path)
),
twin AS (
    SELECT
        number, name_of_page(uri, leads_to_itself) AS name, letters,
        sum(known.captures) AS captures
    FROM (
        SELECT
            number, letters,
            array_to_string(list_reverse(string_split(name, '.')), ',') || path AS surt
        FROM other_place
    ) JOIN known USING (surt)
    GROUP BY number, surt, letters
)
SELECT * FROM (
    SELECT number, name, letters, captures FROM other_place WHERE getvariable('level') <> 'uri'
    UNION ALL
    SELECT * FROM other_path WHERE getvariable('level') = 'uri'
    UNION ALL
    SELECT * FROM twin WHERE getvariable('level') = 'uri'
)
ORDER BY number, letters, captures DESC, name
