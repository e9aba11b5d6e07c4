-- What several questions use. Their values are variables:
--
-- level, is_external   how targets of links are named, and whether links inside a site are left out
-- kinds                the kinds of links that count
-- part, name, first, last   the part of the web: uri, host, domain, site (a host and its subdomains)
--                      or archive; its name, and the range of its SURTs
-- digits, windows      windows of time: as names of 4 (year), 7 (month) or 10 (day) characters, or
--                      listed

CREATE OR REPLACE TEMP MACRO name_of(surt, host, domain) AS CASE getvariable('level')
    WHEN 'uri' THEN CASE WHEN host IS NOT NULL THEN surt END
    WHEN 'host' THEN host
    ELSE domain
END;

CREATE OR REPLACE TEMP MACRO leads_out(host, domain, target_host, target_domain) AS
    NOT getvariable('is_external') OR CASE getvariable('level')
        WHEN 'domain' THEN target_domain IS DISTINCT FROM domain
        ELSE target_host IS DISTINCT FROM host
    END;

CREATE OR REPLACE TEMP MACRO is_in_part(surt, host, domain) AS
    surt BETWEEN getvariable('first') AND getvariable('last') AND CASE getvariable('part')
        WHEN 'uri' THEN surt = getvariable('name')
        WHEN 'host' THEN host = getvariable('name')
        WHEN 'domain' THEN domain = getvariable('name')
        WHEN 'site' THEN surt[length(getvariable('first'))] IN (')', ',', ':')
        ELSE true
    END;

-- Whether a SURT is in a page, a prefix, a host or a site, by the range of its SURTs alone.
CREATE OR REPLACE TEMP MACRO is_of(surt, part_first, part_last) AS
    surt BETWEEN part_first AND part_last AND CASE getvariable('part')
        WHEN 'host' THEN surt[length(part_first)] IN (')', ':')
        WHEN 'site' THEN surt[length(part_first)] IN (')', ',', ':')
        ELSE true
    END;

CREATE OR REPLACE TEMP MACRO windows_at(timestamp) AS CASE
    WHEN getvariable('digits') IS NOT NULL THEN [
        left(left(timestamp, 4) || '-' || timestamp[5:6] || '-' || timestamp[7:8], getvariable('digits'))
    ]
    ELSE list_transform(
        list_filter(getvariable('windows'), lambda one: timestamp BETWEEN one.first AND one.last),
        lambda one: one.name
    )
END;

-- What captures say about their pages (arclink/access/reader.py): a revisit says what the
-- capture says that it repeats, and one that redirects to a variant of its own URI says nothing. All
-- that is not about captures themselves reads these.
CREATE OR REPLACE TEMP VIEW said AS
SELECT * REPLACE (shown_status AS status, shown_mime AS mime) FROM captures WHERE NOT leads_to_itself;

-- Whether the links of a capture of `said` are known: an error or another redirect has none.
CREATE OR REPLACE TEMP MACRO is_known(content, status) AS
    content IS NOT NULL OR (left(status::VARCHAR, 1) IN ('3', '4', '5') AND status <> 304);

-- Whether a capture of `captures` counts as one with known links: as in stores
-- (arclink/store/known_captures.py), by its own status, which is null for most revisits. What a revisit
-- repeats may come with any later batch.
CREATE OR REPLACE TEMP MACRO is_counted(content, status, leads_to_itself) AS
    is_known(content, status) AND NOT leads_to_itself;

-- The payload of a capture: its checksum, or if the server said "not modified", that of the capture
-- which it meant; null if that was not read.
CREATE OR REPLACE TEMP MACRO payload_of(checksum, content) AS CASE
    WHEN starts_with(checksum, 'not-modified:') THEN regexp_replace(content, '-[0-9a-f]{16}$', '')
    ELSE checksum
END;

-- Digests of two algorithms say nothing about each other. A redirect is a payload of its own.
CREATE OR REPLACE TEMP MACRO algorithm_of(payload) AS regexp_extract(payload, '^(?:(.*?):)?', 1);

CREATE OR REPLACE TEMP MACRO seconds(timestamp) AS
    epoch(strptime(timestamp, '%Y%m%d%H%M%S'))::BIGINT;

CREATE OR REPLACE TEMP VIEW wanted AS
FROM links WHERE list_contains(getvariable('kinds'), kind);

-- The same links in the order of the store's contents, in which links of a site are neighbours.
CREATE OR REPLACE TEMP VIEW wanted_by_page AS
FROM links_by_page WHERE list_contains(getvariable('kinds'), kind);
