-- filter.pig: ArcLink's filter rules on CDX rows, and the capture to read of each checksum.
--
-- Input  $CDX                 rows of 11 columns, blank-separated
-- Output $FOLDER/mementos     surt, timestamp, original, checksum, status, mime, file, offset, length, fate
--        $FOLDER/pointers     checksum, captures, payloads, earliest capture, distinct originals
--        $FOLDER/unsaid       like mementos: captures whose record says what their row does not
-- Rules  $STATUSES, $MIMES, $EXTENSIONS: regular expressions; $EMPTY: checksum of the empty payload

lines      = LOAD '$CDX' USING PigStorage(' ') AS (surt:chararray, timestamp:chararray, original:chararray, mime:chararray,
             status:chararray, checksum:chararray, redirect:chararray, meta:chararray, length:long, offset:long, file:chararray);
rows       = FILTER lines BY timestamp != 'CDX';
captures   = FOREACH rows GENERATE surt, timestamp, original, checksum, status, mime, file, offset, length,
             (mime == 'warc/revisit' ? 1 : 0) AS is_revisit,
             REGEX_EXTRACT(LOWER(REGEX_EXTRACT(original, '^(?:[^:/?#]*:(?://[^/?#]*)?)?(?:[^?#]*/)?([^?#;]*).*', 1)), '^.+\\.([^.]*)$', 1)
             AS extension;
judged     = FOREACH captures GENERATE surt, timestamp, original, checksum, status, mime, file, offset, length, is_revisit,
             (status MATCHES '3.*' AND status != '304' ? 'redirect' :
             (is_revisit == 0 AND NOT (status MATCHES '$STATUSES') ? 'MEMENTO_STATUS' :
             (is_revisit == 0 AND NOT (LOWER(mime) MATCHES '$MIMES') ? 'MEMENTO_MIME' :
             (extension IS NOT NULL AND extension MATCHES '$EXTENSIONS' ? 'MEMENTO_EXTENSION' :
             (checksum == '-' OR checksum == '$EMPTY' ? (is_revisit == 1 ? 'not modified' : 'undigested') : 'candidate'))))) AS fate;

SPLIT judged INTO
  unsaid   IF fate == 'redirect' OR fate == 'undigested' OR fate == 'not modified',
  mementos OTHERWISE;
candidates = FILTER judged BY fate == 'candidate';
narrow     = FOREACH candidates GENERATE checksum, timestamp, original, file, offset, length, is_revisit;
by_check   = GROUP narrow BY checksum;
pointers   = FOREACH by_check {
               payloads  = FILTER narrow BY is_revisit == 0;
               in_order  = ORDER payloads BY timestamp, original, file, offset;
               earliest  = LIMIT in_order 1;
               captured  = narrow.original;
               originals = DISTINCT captured;
               GENERATE group AS checksum, COUNT(narrow) AS captures, COUNT(payloads) AS payloads, earliest, originals;
             };

STORE mementos INTO '$FOLDER/mementos';
STORE unsaid   INTO '$FOLDER/unsaid';
STORE pointers INTO '$FOLDER/pointers';
