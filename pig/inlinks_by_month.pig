-- inlinks_by_month.pig: how many mementos of how many pages link to each URI, month by month?
--
-- Input  $GRAPH    graph files of one or more batches (docs/reference/graph-files.md): a folder, or a glob of folders
-- Output $COUNTS   target, month, mementos, sources: SURT, six digits, distinct mementos that link to it, and distinct
--                  originals among these; in the order of target and month
--
--   pig -param GRAPH='…/graph/*' -param COUNTS=... -param PYTHON=... -param SCRIPTS=pig pig/inlinks_by_month.pig
--
-- A memento holds no link: it shows a content, which follows from its checksum and its original (docs/explanation/data-model.md).

-- Folder of files shipped to tasks; in local mode jobs share one folder and would delete each other's files.
%default PROGRAMS '.'
DEFINE contents `$PYTHON $PROGRAMS/contents.py` SHIP('$SCRIPTS/contents.py');
DEFINE unpack_blocks `$PYTHON $PROGRAMS/unpack_blocks.py` SHIP('$SCRIPTS/unpack_blocks.py');
DEFINE unpack_inlinks `$PYTHON $PROGRAMS/unpack_inlinks.py` SHIP('$SCRIPTS/unpack_inlinks.py');

-- Which content does each memento show? A memento whose row kept it from being read shows none.
all_mementos = LOAD '$GRAPH/mementos/part-*' AS (
    surt:chararray, timestamp:chararray, original:chararray, checksum:chararray, status:chararray, mime:chararray,
    record_type:chararray, file:chararray, offset:long, length:long, reason:chararray, languages:chararray);
all_payloads = LOAD '$GRAPH/payloads/part-*' AS (
    checksum:chararray, scope:chararray, charset:chararray, file:chararray, offset:long, reason:chararray, counts:chararray,
    title:chararray);
-- One row each: a payload that one batch could not read may have been read in another.
read_payloads = FILTER all_payloads BY scope != '-';
scopes       = FOREACH read_payloads GENERATE checksum, scope;
payloads     = DISTINCT scopes;
columns      = FOREACH all_mementos GENERATE original, timestamp, (reason == '-' ? checksum : '-') AS checksum;
mementos     = DISTINCT columns;
joined       = JOIN mementos BY checksum LEFT, payloads BY checksum;
scoped       = FOREACH joined GENERATE mementos::original AS original, mementos::timestamp AS timestamp,
    mementos::checksum AS checksum, (payloads::scope IS NULL ? '-' : payloads::scope) AS scope;
by_original  = GROUP scoped BY original;
in_order     = FOREACH by_original {
    oldest_first = ORDER scoped BY timestamp, checksum;
    GENERATE FLATTEN(oldest_first.(original, timestamp, checksum, scope));
};
shown        = STREAM in_order THROUGH contents AS (content:chararray, original:chararray, timestamp:chararray);

-- Which contents link to each target? An inlink names them by their block and their position in it.
block_rows   = LOAD '$GRAPH/outlinks/part-*' USING PigStorage('\n') AS (row:bytearray);
in_blocks    = STREAM block_rows THROUGH unpack_blocks AS (block:chararray, position:int, content:chararray);
positions    = DISTINCT in_blocks;
inlink_rows  = LOAD '$GRAPH/inlinks/part-*' USING PigStorage('\n') AS (row:bytearray);
links        = STREAM inlink_rows THROUGH unpack_inlinks AS (
    target:chararray, uri:chararray, kind:chararray, text:chararray, rel:chararray, block:chararray, position:int);
resolved     = JOIN links BY (block, position), positions BY (block, position);
pairs        = FOREACH resolved GENERATE links::target AS target, positions::content AS content;
linking      = DISTINCT pairs;

sources      = JOIN linking BY content, shown BY content;
months       = FOREACH sources GENERATE linking::target AS target, SUBSTRING(shown::timestamp, 0, 6) AS month,
    shown::original AS original, shown::timestamp AS timestamp;
once         = DISTINCT months;
by_month     = GROUP once BY (target, month);
counts       = FOREACH by_month {
    originals = DISTINCT once.original;
    GENERATE FLATTEN(group) AS (target, month), COUNT(once) AS mementos, COUNT(originals) AS sources;
};
ordered      = ORDER counts BY target, month;
STORE ordered INTO '$COUNTS';
