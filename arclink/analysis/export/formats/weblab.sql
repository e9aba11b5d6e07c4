-- The database of the Cornell Web Lab: ten tables and two views, for PostgreSQL and DuckDB.
--
-- The schema is that of its page "Database Schema Overview". What the page does not list follows
-- its prose, and WebLabSchema.IsOurs is true for it. Texts of more than 900 characters are null,
-- and in the FullText table.

CREATE TABLE WebLabSchema (
    TableName VARCHAR(900),
    ColumnName VARCHAR(900),
    IsOurs BOOLEAN,
    Description VARCHAR(900),
    PRIMARY KEY (TableName, ColumnName)
);
CREATE TABLE Crawl (
    CrawlID INTEGER PRIMARY KEY,
    Name VARCHAR(900)
);
CREATE TABLE Host (
    HostID UUID PRIMARY KEY,
    Hostname VARCHAR(900)
);
CREATE TABLE HostFullText (
    HostID UUID PRIMARY KEY REFERENCES Host (HostID),
    Hostname TEXT
);
CREATE TABLE Url (
    UrlID UUID PRIMARY KEY,
    HostID UUID REFERENCES Host (HostID),
    Path VARCHAR(900),
    Extension VARCHAR(900),
    QueryString VARCHAR(900),
    UserInfo VARCHAR(900)
);
CREATE TABLE UrlFullText (
    UrlID UUID PRIMARY KEY REFERENCES Url (UrlID),
    HostID UUID REFERENCES Host (HostID),
    Path TEXT,
    Extension TEXT,
    QueryString TEXT,
    UserInfo TEXT
);
CREATE TABLE Page (
    PageID BIGINT PRIMARY KEY,
    UrlID UUID NOT NULL REFERENCES Url (UrlID),
    CrawlID INTEGER REFERENCES Crawl (CrawlID),
    ArchiveTime TIMESTAMP NOT NULL,
    Protocol VARCHAR(900),
    Port INTEGER,
    StatusCode SMALLINT,
    MimeType VARCHAR(900),
    Languages VARCHAR(900),
    Checksum VARCHAR(900),
    HasLinks BOOLEAN,
    FileName VARCHAR(900),
    FileOffset BIGINT,
    RecordLength BIGINT
);
CREATE TABLE PageFullText (
    PageID BIGINT PRIMARY KEY REFERENCES Page (PageID),
    Protocol TEXT,
    MimeType TEXT,
    Languages TEXT,
    Checksum TEXT,
    FileName TEXT
);
CREATE TABLE Link (
    PageID BIGINT REFERENCES Page (PageID),
    LinkNumber INTEGER,
    UrlID UUID NOT NULL REFERENCES Url (UrlID),
    LinkText VARCHAR(900),
    Protocol VARCHAR(900),
    Port INTEGER,
    Kind VARCHAR(900),
    Rel VARCHAR(900),
    Occurrences INTEGER,
    PRIMARY KEY (PageID, LinkNumber)
);
CREATE TABLE LinkFullText (
    PageID BIGINT,
    LinkNumber INTEGER,
    LinkText TEXT,
    Protocol TEXT,
    Kind TEXT,
    Rel TEXT,
    PRIMARY KEY (PageID, LinkNumber),
    FOREIGN KEY (PageID, LinkNumber) REFERENCES Link (PageID, LinkNumber)
);
-- A URL as text, without protocol and port.
CREATE VIEW UrlName AS
SELECT u.UrlID, concat(
    coalesce(u.UserInfo, uf.UserInfo), coalesce(h.Hostname, hf.Hostname),
    coalesce(u.Path, uf.Path), coalesce(u.Extension, uf.Extension),
    '?' || coalesce(u.QueryString, uf.QueryString)
) AS Name
FROM Url AS u
LEFT JOIN UrlFullText AS uf ON u.UrlID = uf.UrlID
LEFT JOIN Host AS h ON u.HostID = h.HostID
LEFT JOIN HostFullText AS hf ON u.HostID = hf.HostID;
-- The graph of links between URLs: which URL has linked to which, how often, and when.
CREATE VIEW UrlLink AS
SELECT
    p.UrlID AS SourceUrlID,
    l.UrlID AS TargetUrlID,
    count(DISTINCT p.PageID) AS Pages,
    min(p.ArchiveTime) AS FirstTime,
    max(p.ArchiveTime) AS LastTime
FROM Link AS l JOIN Page AS p ON l.PageID = p.PageID
GROUP BY p.UrlID, l.UrlID;

CREATE INDEX PageUrl ON Page (UrlID);
CREATE INDEX LinkUrl ON Link (UrlID);

CREATE TEMP MACRO short(value) AS CASE WHEN length(value) <= 900 THEN value END;
CREATE TEMP MACRO long(value) AS CASE WHEN length(value) > 900 THEN value END;
-- The key of a URL or host: 16 bytes.
CREATE TEMP MACRO key_of(value) AS md5(value)::UUID;

CREATE TEMP TABLE urls AS
SELECT
    url,
    nullif(parts.protocol, '') AS protocol,
    try_cast(parts.port AS INTEGER) AS port,
    parts.userinfo || parts.host || parts.path || parts.query AS name,
    key_of(name) AS url_id,
    parts
FROM (
    SELECT url, parts_of(url) AS parts
    FROM (SELECT target AS url FROM links UNION SELECT uri FROM captures)
);
CREATE TEMP TABLE names AS
SELECT
    url_id,
    CASE WHEN parts.protocol <> '' THEN parts.host END AS host,
    CASE WHEN parts.protocol <> '' THEN regexp_extract(parts.path, '\.[^./]*$') ELSE '' END AS extension,
    left(parts.path, length(parts.path) - length(extension)) AS path,
    CASE WHEN starts_with(parts.query, '?') THEN substr(parts.query, 2) END AS query,
    nullif(parts.userinfo, '') AS userinfo
FROM (SELECT url_id, min(parts) AS parts FROM urls GROUP BY url_id);
CREATE TEMP TABLE crawls AS
SELECT row_number() OVER (ORDER BY name) AS crawl_id, name
FROM (SELECT DISTINCT crawl_of(file) AS name FROM captures) WHERE name IS NOT NULL;
CREATE TEMP TABLE pages AS
SELECT
    row_number() OVER (ORDER BY surt, timestamp, uri, written, checksum) AS page_id,
    urls.url_id, crawl_id, time, protocol, port, status, mime, languages, checksum, content, file,
    record_offset, record_length
FROM captures
JOIN urls ON uri = url
LEFT JOIN crawls ON crawl_of(file) = crawls.name;

INSERT INTO WebLabSchema VALUES
    ('WebLabSchema', 'TableName', true, 'Name of a table'),
    ('WebLabSchema', 'ColumnName', true, 'Name of one of its columns'),
    ('WebLabSchema', 'IsOurs', true, 'False if the page of the Web Lab lists the column, true if ArcLink has chosen it'),
    ('WebLabSchema', 'Description', true, 'What the column has'),
    ('Crawl', 'CrawlID', false, 'Number of the crawl'),
    ('Crawl', 'Name', false, 'Name of the crawl: the common beginning of the names of its archive files'),
    ('Host', 'HostID', false, 'MD5 of the host name'),
    ('Host', 'Hostname', true, 'Host name, such as www.cs.cornell.edu'),
    ('HostFullText', 'HostID', false, 'MD5 of the host name'),
    ('HostFullText', 'Hostname', true, 'Host name of more than 900 characters'),
    ('Url', 'UrlID', false, 'MD5 of the full URL without protocol and port'),
    ('Url', 'HostID', false, 'MD5 of the host name; null for a URL without host, such as mailto:'),
    ('Url', 'Path', false, 'Path without the extension of the file name; of a URL without host, all of it'),
    ('Url', 'Extension', false, 'Extension of the file name, with its dot; null if it has none'),
    ('Url', 'QueryString', false, 'Text after the question mark; null without question mark'),
    ('Url', 'UserInfo', true, 'User before the host, with the @; null if there is none'),
    ('UrlFullText', 'UrlID', false, 'MD5 of the full URL without protocol and port'),
    ('UrlFullText', 'HostID', false, 'MD5 of the host name'),
    ('UrlFullText', 'Path', false, 'Path of more than 900 characters'),
    ('UrlFullText', 'Extension', false, 'Extension of more than 900 characters'),
    ('UrlFullText', 'QueryString', false, 'Query of more than 900 characters'),
    ('UrlFullText', 'UserInfo', true, 'User of more than 900 characters'),
    ('Page', 'PageID', true, 'Number of the page'),
    ('Page', 'UrlID', true, 'URL that the crawler visited'),
    ('Page', 'CrawlID', true, 'Crawl that visited it'),
    ('Page', 'ArchiveTime', false, 'Time of the visit, UTC'),
    ('Page', 'Protocol', true, 'Protocol of the visited URL; null for a URL without host'),
    ('Page', 'Port', true, 'Port of the visited URL; null for the default'),
    ('Page', 'StatusCode', true, 'HTTP status; null if it is not known'),
    ('Page', 'MimeType', true, 'MIME type; null if it is not known'),
    ('Page', 'Languages', true, 'Codes of the languages, with commas between them; null if they are not known'),
    ('Page', 'Checksum', true, 'Checksum of the payload'),
    ('Page', 'HasLinks', true, 'True if links were looked for; otherwise the page has no rows in Link, and its links are not known'),
    ('Page', 'FileName', true, 'Archive file that has the page'),
    ('Page', 'FileOffset', true, 'Where its record begins in the file, in bytes'),
    ('Page', 'RecordLength', true, 'Bytes of the record as stored'),
    ('PageFullText', 'PageID', true, 'Number of the page'),
    ('PageFullText', 'Protocol', true, 'Protocol of more than 900 characters'),
    ('PageFullText', 'MimeType', true, 'MIME type of more than 900 characters'),
    ('PageFullText', 'Languages', true, 'Codes of more than 900 characters'),
    ('PageFullText', 'Checksum', true, 'Checksum, or reference to another capture, of more than 900 characters'),
    ('PageFullText', 'FileName', true, 'File name of more than 900 characters'),
    ('Link', 'PageID', true, 'Page that has the link'),
    ('Link', 'LinkNumber', true, 'Number of the link on the page, from 0 on'),
    ('Link', 'UrlID', true, 'URL that the link leads to'),
    ('Link', 'LinkText', true, 'Text of the link, or alternate text of an image; may be empty'),
    ('Link', 'Protocol', true, 'Protocol of the URL that the link leads to'),
    ('Link', 'Port', true, 'Port of that URL; null for the default'),
    ('Link', 'Kind', true, 'Element and attribute of the link, such as a@href'),
    ('Link', 'Rel', true, 'Attribute rel of the link; null if it is missing'),
    ('Link', 'Occurrences', true, 'How often the page has this link'),
    ('LinkFullText', 'PageID', true, 'Page that has the link'),
    ('LinkFullText', 'LinkNumber', true, 'Number of the link on the page'),
    ('LinkFullText', 'LinkText', true, 'Text of more than 900 characters'),
    ('LinkFullText', 'Protocol', true, 'Protocol of more than 900 characters'),
    ('LinkFullText', 'Kind', true, 'Element and attribute of more than 900 characters'),
    ('LinkFullText', 'Rel', true, 'Attribute rel of more than 900 characters');
INSERT INTO Crawl SELECT crawl_id, short(name) FROM crawls ORDER BY ALL;
INSERT INTO Host
SELECT DISTINCT key_of(host), short(host) FROM names WHERE host IS NOT NULL ORDER BY ALL;
INSERT INTO HostFullText
SELECT DISTINCT key_of(host), host FROM names WHERE length(host) > 900 ORDER BY ALL;
INSERT INTO Url
SELECT
    url_id, key_of(host), short(path), short(nullif(extension, '')), short(query), short(userinfo)
FROM names ORDER BY url_id;
INSERT INTO UrlFullText
SELECT url_id, key_of(host), long(path), long(extension), long(query), long(userinfo)
FROM names
WHERE greatest(length(path), length(extension), length(query), length(userinfo)) > 900
ORDER BY url_id;
INSERT INTO Page
SELECT
    page_id, url_id, crawl_id, time, short(protocol), port, status, short(mime), short(languages),
    short(checksum), content IS NOT NULL, short(file), record_offset, record_length
FROM pages ORDER BY page_id;
INSERT INTO PageFullText
SELECT page_id, long(protocol), long(mime), long(languages), long(checksum), long(file)
FROM pages
WHERE greatest(length(protocol), length(mime), length(languages), length(checksum), length(file)) > 900
ORDER BY page_id;
INSERT INTO Link
SELECT
    page_id, position, urls.url_id, short(text), short(urls.protocol), urls.port, short(kind),
    short(rel), occurrences
FROM links JOIN urls ON links.target = urls.url JOIN pages USING (content);
INSERT INTO LinkFullText
SELECT page_id, position, long(text), long(urls.protocol), long(kind), long(rel)
FROM links JOIN urls ON links.target = urls.url JOIN pages USING (content)
WHERE greatest(length(text), length(urls.protocol), length(kind), length(rel)) > 900;
