-- filter.pig: the first stage (paper, 3.1): which captures are mementos, and whose payload is read?
--
-- Input  $CDX       CDX or CDXJ lines, plain or gzip
-- Output $MEMENTOS  the relation `mementos` of docs/reference/graph-files.md: one row per capture, in no order; of a redirect and a
--                   capture without checksum or type before its record is read
--        $READS     checksum, timestamp, original, file, offset, length: the captures to be read, in no order
--
--   pig -param_file rules.pig -param CDX=... -param MEMENTOS=... -param READS=... -param PYTHON=... -param SCRIPTS=pig pig/filter.pig
--
-- rules.pig is made by rule_parameters.py; PYTHON has ArcLink installed. Rules as in docs/reference/filter.md, in the order method,
-- status, mime, extension, checksum: the first that fails is the reason.

%default PROGRAMS '.'
IMPORT '$SCRIPTS/captures.macro';

captures = read_captures('$CDX');

reasoned = FOREACH captures GENERATE *,
    (fails_method == 1 ? 'MEMENTO_METHOD'
        : (is_redirect == 1 ? '-'
        : (fails_status == 1 ? 'MEMENTO_STATUS'
        : (fails_mime == 1 ? 'MEMENTO_MIME'
        : (fails_extension == 1 ? 'MEMENTO_EXTENSION' : '-'))))) AS reason;
mementos = FOREACH reasoned GENERATE
    surt, timestamp, original, checksum, status, mime, record_type, file, offset, length, reason, languages;
STORE mementos INTO '$MEMENTOS';

-- Redirects, and captures without a checksum to be joined by or without a type, are read one by one; of the others, of each
-- checksum the earliest. Revisits have no payload to read.
passing      = FILTER reasoned BY reason == '-' OR is_doubtful == 1;
one_by_one   = FILTER passing BY is_redirect == 1 OR is_untyped == 1 OR (is_revisit == 0 AND is_digested == 0);
alone        = FOREACH one_by_one GENERATE checksum, timestamp, original, file, offset, length;
candidates   = FILTER passing BY is_redirect == 0 AND is_revisit == 0 AND is_digested == 1 AND is_untyped == 0;
by_checksum  = GROUP candidates BY checksum;
earliest     = FOREACH by_checksum {
    in_order = ORDER candidates BY timestamp, original, file, offset;
    first    = LIMIT in_order 1;
    GENERATE FLATTEN(first.(checksum, timestamp, original, file, offset, length));
};
reads = UNION alone, earliest;
STORE reads INTO '$READS';
