-- The datasets of ARCH, which are the derivatives of the Archives Unleashed Toolkit, by their names
-- and with their columns. What they need of the payloads is null: last_modified_date,
-- mime_type_tika, width, height, md5.

-- Pages whose links are known. A revisit, which has the status 304 or that of the page that it
-- repeats, shows this page. The MIME type of a revisit says nothing about it.
CREATE TEMP TABLE pages AS
SELECT timestamp[:8] AS crawl_date, uri AS url, domain, content
FROM captures
WHERE content IS NOT NULL AND coalesce(status, 200) IN (200, 304);

-- A checksum in 40 hex digits, of SHA-1 in base 32.
CREATE TEMP MACRO five_bytes(letters) AS format('{:010x}', list_reduce(
    list_transform(
        string_split(letters, ''), lambda letter: strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', letter) - 1
    ),
    lambda one, other: one * 32 + other
));
CREATE TEMP MACRO sha1_of(checksum) AS CASE WHEN regexp_full_match(checksum, '[A-Z2-7]{32}') THEN
    five_bytes(substr(checksum, 1, 8)) || five_bytes(substr(checksum, 9, 8))
    || five_bytes(substr(checksum, 17, 8)) || five_bytes(substr(checksum, 25, 8)) END;

CREATE TEMP TABLE documents AS
SELECT
    timestamp[:8] AS crawl_date,
    NULL::VARCHAR AS last_modified_date,
    coalesce(written, uri) AS url,
    regexp_extract(struct_extract(parts_of(url), 'path'), '[^/]*$') AS filename,
    regexp_extract(filename, '\.([^.]*)$', 1) AS extension,
    coalesce(mime, 'unknown') AS mime_type_web_server,
    NULL::VARCHAR AS mime_type_tika,
    NULL::VARCHAR AS md5,
    sha1_of(checksum) AS sha1
FROM captures
WHERE status = 200;

INSERT INTO "domain-frequency"
SELECT domain, count(*) AS count FROM pages GROUP BY domain ORDER BY count DESC, domain;

INSERT INTO "domain-graph"
SELECT crawl_date, domain AS source, target_domain AS target, count(*) AS count
FROM pages JOIN (
    SELECT DISTINCT content, target_domain FROM links WHERE kind = 'a@href'
) USING (content)
WHERE domain IS NOT NULL AND target_domain IS NOT NULL
GROUP BY ALL ORDER BY count DESC, crawl_date, source, target;

INSERT INTO "web-graph"
SELECT crawl_date, url AS source, target, text AS anchor_text
FROM (SELECT *, unnest(range(occurrences)) FROM links WHERE kind = 'a@href')
JOIN pages USING (content);

INSERT INTO "image-graph"
SELECT crawl_date, pages.url AS source, target AS url, text AS alt_text
FROM (SELECT *, unnest(range(occurrences)) FROM links WHERE kind = 'img@src')
JOIN pages USING (content);

INSERT INTO "image-information"
SELECT * EXCLUDE (md5, sha1), NULL::INTEGER AS width, NULL::INTEGER AS height, md5, sha1
FROM documents WHERE starts_with(mime_type_web_server, 'image/') ORDER BY crawl_date, url, sha1;
INSERT INTO "audio-information"
FROM documents WHERE starts_with(mime_type_web_server, 'audio/') ORDER BY crawl_date, url, sha1;
INSERT INTO "video-information"
FROM documents WHERE starts_with(mime_type_web_server, 'video/') ORDER BY crawl_date, url, sha1;
INSERT INTO "pdf-information"
FROM documents WHERE mime_type_web_server = 'application/pdf' ORDER BY crawl_date, url, sha1;
