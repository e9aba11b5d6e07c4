-- Several parts of the web, of one kind: a row of `parts` for each. Pages and hosts are found by
-- their names; the range from the first to the last SURT of all leaves most of the file unread.
CREATE OR REPLACE TEMP MACRO key_of(surt, host) AS CASE getvariable('part')
    WHEN 'uri' THEN surt
    WHEN 'host' THEN host
    ELSE ''
END;

CREATE OR REPLACE TEMP VIEW asked_part AS SELECT number, part_first, place FROM parts;

CREATE OR REPLACE TEMP VIEW to_part AS
SELECT number, part_first, part_last, wanted.*
FROM wanted JOIN parts
    ON key_of(target_surt, target_host) = key AND is_of(target_surt, part_first, part_last)
WHERE target_surt BETWEEN getvariable('first') AND getvariable('last');

CREATE OR REPLACE TEMP VIEW of_part AS
SELECT number, part_first, part_last, captures.*
FROM captures JOIN parts ON key_of(surt, host) = key AND is_of(surt, part_first, part_last)
WHERE surt BETWEEN getvariable('first') AND getvariable('last');

-- The captures of all parts, each once, also if it is in several.
CREATE OR REPLACE TEMP VIEW of_any_part AS
SELECT DISTINCT
    surt, timestamp, coalesce(written, uri) AS page, checksum, content, status, shown_status,
    leads_to_itself
FROM of_part;
