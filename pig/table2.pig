-- table2.pig: how far does each filter rule alone reduce a collection, and how far do all of them (paper, Table 2)?
--
-- Input  $CDX     CDX or CDXJ lines, plain or gzip
-- Output $TABLE   rule, captures, share: how many captures a rule leaves, and their share of all, in the table's order
--
--   pig -param_file rules.pig -param CDX=... -param TABLE=... -param PYTHON=... -param SCRIPTS=pig pig/table2.pig
--
-- Status and mime are rules that include, extension and checksum such that exclude. Table 2 has no row for the method rule. `all` are the captures that are read:
-- redirects too, unless the rules say otherwise. The last column but the first row is the paper's percentage.

%default PROGRAMS '.'
IMPORT '$SCRIPTS/captures.macro';

captures = read_captures('$CDX');

-- A checksum leaves one of its captures; a capture without checksum is its own. A redirect is read whatever rules say; a
-- revisit has no payload.
marked      = FOREACH captures GENERATE checksum, is_digested,
    1 - fails_status AS has_status, 1 - fails_mime AS has_mime, 1 - fails_extension AS has_extension,
    (is_redirect == 1 OR ((is_digested == 0 OR is_untyped == 1) AND is_revisit == 0 AND fails_method + fails_status + fails_mime + fails_extension == 0) ? 1 : 0) AS is_read_alone,
    (is_redirect == 0 AND is_digested == 1 AND is_untyped == 0 AND is_revisit == 0 AND fails_method + fails_status + fails_mime + fails_extension == 0 ? 1 : 0) AS is_candidate;
by_checksum = GROUP marked BY (is_digested == 1 ? checksum : '-') PARALLEL 1;
per_payload = FOREACH by_checksum GENERATE
    COUNT(marked) AS captures,
    SUM(marked.has_status) AS status, SUM(marked.has_mime) AS mime, SUM(marked.has_extension) AS extension,
    (group == '-' ? COUNT(marked) : 1L) AS checksum,
    SUM(marked.is_read_alone) + MAX(marked.is_candidate) AS all_rules;
together    = GROUP per_payload ALL;
sums        = FOREACH together GENERATE
    SUM(per_payload.captures) AS captures, SUM(per_payload.status) AS status, SUM(per_payload.mime) AS mime,
    SUM(per_payload.extension) AS extension, SUM(per_payload.checksum) AS checksum, SUM(per_payload.all_rules) AS all_rules;
table2      = FOREACH sums GENERATE FLATTEN(TOBAG(
    TOTUPLE('no rule', captures, (double) captures / captures),
    TOTUPLE('status', status, (double) status / captures),
    TOTUPLE('mime', mime, (double) mime / captures),
    TOTUPLE('extension', extension, (double) extension / captures),
    TOTUPLE('checksum', checksum, (double) checksum / captures),
    TOTUPLE('all', all_rules, (double) all_rules / captures)));
STORE table2 INTO '$TABLE';
