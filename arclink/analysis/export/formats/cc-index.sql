-- The columns of Common Crawl's columnar index, as the table that its published SQL names.
--
-- Null where ArcLink does not know a value: content_mime_detected, content_charset,
-- content_truncated, warc_segment, and the parts of hosts by the private section of the Public
-- Suffix List.

CREATE SCHEMA ccindex;
CREATE TABLE ccindex.ccindex (
    url_surtkey VARCHAR,
    url VARCHAR,
    url_host_name VARCHAR,
    url_host_tld VARCHAR,
    url_host_2nd_last_part VARCHAR,
    url_host_3rd_last_part VARCHAR,
    url_host_4th_last_part VARCHAR,
    url_host_5th_last_part VARCHAR,
    url_host_registry_suffix VARCHAR,
    url_host_registered_domain VARCHAR,
    url_host_private_suffix VARCHAR,
    url_host_private_domain VARCHAR,
    url_host_name_reversed VARCHAR,
    url_protocol VARCHAR,
    url_port INTEGER,
    url_path VARCHAR,
    url_query VARCHAR,
    fetch_time TIMESTAMP,
    fetch_status SMALLINT,
    fetch_redirect VARCHAR,
    content_digest VARCHAR,
    content_mime_type VARCHAR,
    content_mime_detected VARCHAR,
    content_charset VARCHAR,
    content_languages VARCHAR,
    content_truncated VARCHAR,
    warc_filename VARCHAR,
    warc_record_offset BIGINT,
    warc_record_length BIGINT,
    warc_segment VARCHAR,
    crawl VARCHAR,
    subset VARCHAR
);
CREATE VIEW ccindex AS FROM ccindex.ccindex;
-- Functions of Athena that DuckDB has under other names.
CREATE MACRO regexp_like(value, pattern) AS regexp_matches(value, pattern);
CREATE MACRO levenshtein_distance(one, other) AS levenshtein(one, other);
CREATE MACRO cardinality(list) AS len(list);
CREATE MACRO url_extract_path(url) AS
    regexp_extract(url, '^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*([^?#]*)', 1);

CREATE TEMP TABLE redirects AS
SELECT content, min(target) AS target FROM links WHERE kind = 'http@location' GROUP BY content;
CREATE TEMP MACRO label(labels, number) AS
    CASE WHEN len(labels) >= number THEN labels[-number] END;

INSERT INTO ccindex.ccindex
SELECT
    surt, captured, host_name, label(labels, 1), label(labels, 2), label(labels, 3), label(labels, 4),
    label(labels, 5),
    CASE WHEN NOT is_address THEN coalesce(nullif(regexp_extract(domain, '\.(.*)$', 1), ''), domain) END,
    CASE WHEN NOT is_address THEN domain END,
    NULL::VARCHAR, NULL::VARCHAR,
    CASE WHEN is_address THEN host_name ELSE array_to_string(list_reverse(labels), '.') END,
    nullif(parts.protocol, ''), try_cast(parts.port AS INTEGER), parts.path,
    CASE WHEN starts_with(parts.query, '?') THEN substr(parts.query, 2) END,
    time, status, redirects.target, checksum, mime, NULL::VARCHAR, NULL::VARCHAR, languages,
    NULL::VARCHAR, file, record_offset, record_length, NULL::VARCHAR, crawl_of(file),
    CASE
        WHEN parts.path = '/robots.txt' THEN 'robotstxt'
        WHEN status = 200 THEN 'warc'
        ELSE 'crawldiagnostics'
    END
FROM (
    SELECT *, CASE WHEN NOT is_address THEN string_split(host_name, '.') END AS labels
    FROM (
        SELECT
            *,
            nullif(lower(parts.host), '') AS host_name,
            regexp_full_match(host_name, '[0-9.]+|\[.*\]') AS is_address
        FROM (SELECT *, coalesce(written, uri) AS captured, parts_of(captured) AS parts FROM captures)
    )
) LEFT JOIN redirects USING (content)
ORDER BY surt, timestamp, captured, checksum;
