-- One part of the web.
CREATE OR REPLACE TEMP VIEW asked_part AS
SELECT 0 AS number, getvariable('first') AS part_first, getvariable('place') AS place;

CREATE OR REPLACE TEMP VIEW to_part AS
SELECT
    0 AS number, getvariable('first') AS part_first, getvariable('last') AS part_last, *
FROM wanted
WHERE is_in_part(target_surt, target_host, target_domain);

CREATE OR REPLACE TEMP VIEW of_part AS
SELECT
    0 AS number, getvariable('first') AS part_first, getvariable('last') AS part_last, *
FROM captures
WHERE is_in_part(surt, host, domain);

CREATE OR REPLACE TEMP VIEW of_any_part AS FROM of_part;
