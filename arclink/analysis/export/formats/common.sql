-- Functions that several formats use.

-- The parts of a URL. The host keeps "www."; a URL without "//", such as mailto:, has only a path.
CREATE TEMP MACRO parts_of(url) AS regexp_extract(
    url,
    '(?s)^(?:([A-Za-z][A-Za-z0-9+.-]*)://([^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)(?::([0-9]*))?)?([^?#]*)((?s:.*))$',
    ['protocol', 'userinfo', 'host', 'port', 'path', 'query']
);

-- The name that a crawler gave its files: the name of a file without the time, the number and the
-- machine after it.
CREATE TEMP MACRO crawl_of(file) AS nullif(regexp_replace(
    regexp_replace(parse_filename(file), '\.w?arc(\.[a-z]+)?$', ''),
    '[-_.]?([0-9]{12}.*|[0-9]{5,11}|[0-9]{1,3})$',
    ''
), '');
