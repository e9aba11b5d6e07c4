-- What all questions use, after common.sql of the relations. To count distinct links by their hashes
-- (64 bits) takes half the time; of 10 million links, two have one hash in one case of 300,000.
-- Further variables:
--
-- since, until         the span of captures that count, or two times that are compared
-- is_from              whether `since` is given
-- words                words to find (arclink/access/words.py)
-- term                 what typical terms are: text or word
-- number_of_parts      how many parts of the web are asked about
-- links_of_part        how many links lead to the part, if it is one with less than a million; else null
-- is_new               whether only links count that an earlier capture of the page did not have
--
-- slice_first, slice_end, slice_by, slice, slices   the slice of links that is read (`slices_of`): a
--                      range of target SURTs, or of `slices` remainders of the hash of a column one
--
-- period_of            (from periods.sql or listed.sql) the window of a time, in a row for each window
-- to_part, of_part     (from one.sql or many.sql) links to the part of the web that is asked about,
--                      and its captures; `number` says which of several parts
-- said_of_part         what these captures say about their pages (`said`)
-- asked_part           the parts themselves, each with its host (at the level of domains, its
--                      domain), which is empty if it has none

CREATE OR REPLACE TEMP MACRO is_asked_time(timestamp) AS
    timestamp BETWEEN getvariable('since') AND getvariable('until');

-- What is compared is the newest of all captures by then.
CREATE OR REPLACE TEMP MACRO is_read_time(timestamp) AS timestamp <= getvariable('until');

CREATE OR REPLACE TEMP MACRO is_html(mime) AS mime IN ('text/html', 'application/xhtml+xml');

-- Of the times of a page's captures, the earlier one that is compared; null if it is not known.
CREATE OR REPLACE TEMP MACRO earlier_time(timestamp) AS CASE
    WHEN getvariable('is_from') THEN max(timestamp) FILTER (timestamp <= getvariable('since'))
    ELSE min(timestamp)
END;

-- What a row is about at the level: unlike `name_of`, also URIs without host have a row each, if
-- rows are URIs. With a URI in place of the SURT: its name for people.
CREATE OR REPLACE TEMP MACRO shown_of(uri, host, domain) AS CASE getvariable('level')
    WHEN 'uri' THEN uri
    WHEN 'host' THEN host
    ELSE domain
END;

-- The value of the newest capture that has one; of several in one second, the greatest.
CREATE OR REPLACE TEMP MACRO newest(timestamp, value) AS max(timestamp || value)[15:];

-- A link from outside: from another host than the target's (at the level of domains, from another
-- domain); for a domain that is asked about, from outside of it. What has no host, such as mailto:,
-- is no site.
CREATE OR REPLACE TEMP MACRO is_from_outside(
    surt, host, domain, target_host, target_domain, part_first, part_last
) AS
    NOT getvariable('is_external') OR host IS NOT NULL AND target_host IS NOT NULL
        AND CASE getvariable('part')
            WHEN 'site' THEN NOT is_of(surt, part_first, part_last)
            ELSE leads_out(host, domain, target_host, target_domain)
        END;

-- The same for a link of the part that is asked about.
CREATE OR REPLACE TEMP MACRO is_to_outside(
    target_surt, host, domain, target_host, target_domain, part_first, part_last
) AS
    is_from_outside(target_surt, target_host, target_domain, host, domain, part_first, part_last);

-- The name of a page: the first of its variants in the alphabet, of those that say something.
CREATE OR REPLACE TEMP MACRO name_of_page(uri, leads_to_itself) AS
    coalesce(min(uri) FILTER (NOT leads_to_itself), min(uri));

-- Each link to the part, once for each capture that shows it.
CREATE OR REPLACE TEMP VIEW inlinks_ever AS
SELECT
    number, content, target, target_surt, target_host, target_domain, kind, text, rel,
    said.surt, coalesce(written, uri) AS page, uri, host, domain, timestamp
FROM to_part JOIN said USING (content)
WHERE is_from_outside(
    said.surt, host, domain, target_host, target_domain, part_first, part_last
);

CREATE OR REPLACE TEMP VIEW inlinks AS
SELECT *, period_of(timestamp) AS period FROM inlinks_ever WHERE is_asked_time(timestamp);

CREATE OR REPLACE TEMP VIEW said_of_part AS
SELECT * REPLACE (shown_status AS status, shown_mime AS mime) FROM of_part WHERE NOT leads_to_itself;

CREATE OR REPLACE TEMP VIEW asked_captures AS
SELECT *, period_of(timestamp) AS period FROM of_part WHERE is_asked_time(timestamp);

-- A row is in one slice, with all rows that have its group.
CREATE OR REPLACE TEMP MACRO is_in_slice(target_surt, target_host, target_domain, text) AS
    target_surt >= getvariable('slice_first') AND target_surt < getvariable('slice_end')
    AND CASE getvariable('slice_by')
        WHEN 'host' THEN hash(target_host) % getvariable('slices') = getvariable('slice')
        WHEN 'domain' THEN hash(target_domain) % getvariable('slices') = getvariable('slice')
        WHEN 'text' THEN hash(text) % getvariable('slices') = getvariable('slice')
        ELSE true
    END;

CREATE OR REPLACE TEMP MACRO is_linker_in_slice(surt, host, domain) AS CASE getvariable('slice_by')
    WHEN 'linker' THEN
        hash(shown_of(surt, host, domain)) % getvariable('slices') = getvariable('slice')
    ELSE true
END;

-- A hash that is null for null.
CREATE OR REPLACE TEMP MACRO key(name) AS CASE WHEN name IS NOT NULL THEN hash(name) END;

-- A timestamp that was counted as a number.
CREATE OR REPLACE TEMP MACRO time_of(number) AS lpad(number::VARCHAR, 14, '0');

-- The same links as in `inlinks`, of one slice, for questions that count pages and hosts: `surt`,
-- `page`, `host` and `linker` (what links, at the level) are hashes, `timestamp` is a number. DuckDB keeps all rows for
-- several count(DISTINCT), and the captures of 100 million links would fill the memory as texts.
CREATE OR REPLACE TEMP VIEW counted_inlinks AS
SELECT
    number, period, target, target_surt, target_host, target_domain, kind, text, rel,
    capture.content, capture.surt, page, host, linker, linker_name, timestamp
FROM to_part JOIN (
    SELECT
        hash(content) AS content, hash(surt) AS surt, hash(coalesce(written, uri)) AS page,
        key(host) AS host, key(domain) AS domain, surt AS linking_surt,
        hash(shown_of(surt, host, domain)) AS linker, shown_of(uri, host, domain) AS linker_name,
        timestamp::BIGINT AS timestamp, period_of(timestamp) AS period
    FROM said
    WHERE content IS NOT NULL AND is_asked_time(timestamp) AND is_linker_in_slice(surt, host, domain)
) AS capture ON hash(to_part.content) = capture.content
WHERE is_in_slice(target_surt, target_host, target_domain, text) AND is_from_outside(
    linking_surt, host, domain, key(target_host), key(target_domain), part_first, part_last
);

-- What they lead to at the level: `key` is the hash of its name.
CREATE OR REPLACE TEMP VIEW counted_targets AS
SELECT
    number, period, hash(name_of(target_surt, target_host, target_domain)) AS key,
    shown_of(target, target_host, target_domain) AS name, host, surt, timestamp
FROM counted_inlinks
WHERE name_of(target_surt, target_host, target_domain) IS NOT NULL;

-- The pages that were captured in both of the last two periods with captures.
CREATE OR REPLACE TEMP VIEW pages_twice AS
WITH compared AS MATERIALIZED (
    SELECT min(period) AS before, max(period) AS after
    FROM (
        SELECT DISTINCT period_of(timestamp) AS period
        FROM said
        WHERE is_asked_time(timestamp)
        ORDER BY period DESC
        LIMIT 2
    )
    HAVING count(*) = 2
)
SELECT hash(surt) AS surt, before, after
FROM said JOIN compared ON period_of(timestamp) IN (before, after)
WHERE is_asked_time(timestamp) AND is_known(content, status)
GROUP BY surt, before, after
HAVING count(DISTINCT period_of(timestamp)) = 2;

-- The links in these two periods (`is_after`: in the later one). Only pages count that were captured
-- in both, so that a larger crawl is not taken for more links.
CREATE OR REPLACE TEMP VIEW inlinks_twice AS
WITH twice AS MATERIALIZED (FROM pages_twice)
SELECT * REPLACE (after AS period), period = after AS is_after
FROM counted_inlinks SEMI JOIN twice USING (surt)
CROSS JOIN (SELECT DISTINCT before, after FROM twice)
WHERE period IN (before, after);

-- The captures that link to the part, each at least once: what counts pages and times, but not links,
-- reads a capture once and not for each of its links.
CREATE OR REPLACE TEMP VIEW linking_captures AS
SELECT
    number, part_first, part_last, content, surt, host, domain, timestamp,
    period_of(timestamp) AS period
FROM (
    SELECT DISTINCT
        number, part_first, part_last, content,
        CASE WHEN getvariable('is_external') THEN target_host END AS target_host,
        CASE WHEN getvariable('is_external') THEN target_domain END AS target_domain
    FROM to_part
) JOIN said USING (content)
WHERE is_asked_time(timestamp) AND is_from_outside(
    surt, host, domain, target_host, target_domain, part_first, part_last
);

-- The links of the part's contents, and of contents next to them: of 10 million links, the row groups
-- with those of a site take 0.06 s and all 0.4 s. DuckDB leaves the others unread, if the part is in
-- few of them; if it is in many, only those before the first and after the last one. The archive is in
-- all of them, so they are not looked for. The limit, which no file reaches, tells DuckDB that the row
-- groups are few: it made a hash table of all links, and took 56 s instead of 0.5.
CREATE OR REPLACE TEMP VIEW wanted_of_part AS
FROM wanted_by_page WHERE getvariable('part') = 'archive'
UNION ALL
FROM wanted_by_page SEMI JOIN (
    SELECT DISTINCT row_group FROM links_by_page WHERE content IN (SELECT content FROM of_part)
    LIMIT 1_000_000
) USING (row_group)
WHERE getvariable('part') <> 'archive';

-- Each link of the part, once for each capture that shows it.
CREATE OR REPLACE TEMP VIEW outlinks AS
SELECT
    number, part_first, part_last, content, target, target_surt, target_host, target_domain, kind,
    text, rel, surt, coalesce(written, uri) AS page, uri, host, domain, timestamp,
    period_of(timestamp) AS period
FROM said_of_part JOIN wanted_of_part USING (content)
WHERE is_asked_time(timestamp) AND is_to_outside(
    target_surt, host, domain, target_host, target_domain, part_first, part_last
);

-- The histories of the part's pages: their captures with known links. If captures of one second
-- differ, the page had the links of all.
CREATE OR REPLACE TEMP VIEW histories_of_part AS
SELECT
    number, part_first, part_last, surt, coalesce(written, uri) AS page, uri, host, domain, timestamp,
    coalesce(list(DISTINCT content ORDER BY content) FILTER (content IS NOT NULL), []) AS contents
FROM said_of_part
WHERE is_known(content, status)
GROUP BY ALL;

-- What is known about each page of the archive, or each host or domain, at the level; about those of
-- the part, if these are whole pages or hosts. If no capture says anything, only their number is.
CREATE OR REPLACE TEMP VIEW captured AS
SELECT
    name_of(surt, host, domain) AS name, count(*) AS captures,
    newest(timestamp, CASE WHEN NOT leads_to_itself THEN shown_status END)::SMALLINT AS status,
    bool_and(coalesce(shown_status >= 400, false)) FILTER (NOT leads_to_itself) AS is_error,
    max(timestamp) FILTER (NOT leads_to_itself) AS last_capture
FROM captures
WHERE surt BETWEEN getvariable('first') AND getvariable('last')
    AND surt >= getvariable('slice_first') AND surt < getvariable('slice_end')
OR NOT (
    getvariable('level') = 'uri'
    OR getvariable('level') = 'host' AND getvariable('part') IN ('host', 'site')
)
GROUP BY ALL;

-- The contents of redirects that say nothing: no other capture shows them.
CREATE OR REPLACE TEMP VIEW says_nothing AS
SELECT content
FROM captures
WHERE content IN (SELECT content FROM captures WHERE leads_to_itself)
GROUP BY content
HAVING bool_and(leads_to_itself);

CREATE OR REPLACE TEMP VIEW said_to_part AS
FROM to_part ANTI JOIN says_nothing USING (content);

-- What links lead to that was never captured, or (is_stale) only before the span and before the
-- captures with the links. It is named by the URI that most links use, of those that a crawler can
-- capture.
CREATE OR REPLACE TEMP MACRO to_capture(is_stale) AS TABLE
WITH linked AS MATERIALIZED (
    SELECT
        number, period, name_of(target_surt, target_host, target_domain) AS key,
        count(DISTINCT host) AS hosts,
        count(DISTINCT surt) AS pages,
        min(timestamp) AS first, max(timestamp) AS last, any_value(last_capture) AS captured
    FROM inlinks
        LEFT JOIN captured ON captured.name = name_of(target_surt, target_host, target_domain)
    WHERE CASE
        WHEN NOT is_stale THEN last_capture IS NULL
        WHEN getvariable('is_from') THEN last_capture < getvariable('since')
        ELSE last_capture < timestamp
    END
    GROUP BY ALL
),
named AS (
    SELECT number, key, arg_min(name, (-links, name)) AS name
    FROM (
        SELECT
            number, name_of(target_surt, target_host, target_domain) AS key,
            shown_of(target, target_host, target_domain) AS name, count(*) AS links
        FROM said_to_part
        WHERE regexp_matches(target, '^https?://', 'i') AND key IN (SELECT key FROM linked)
        GROUP BY ALL
    )
    GROUP BY ALL
)
FROM linked JOIN named USING (number, key);
