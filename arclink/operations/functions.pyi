"""What ``arclink.operations.functions`` makes from declarations, for editors and type checkers."""

from arclink.access.capabilities import Place
from arclink.access.capabilities import Time
from arclink.analysis.charts.results import RowResult
from arclink.linkgraph import Archive
from arclink.linkgraph import LinkGraph
from arclink.linkgraph import MergedLinks
from arclink.operations.backups import Backup
from arclink.operations.backups import Restore
from arclink.operations.build import Built
from arclink.operations.fetch import FetchedCaptures
from arclink.operations.forget import ForgottenCaptures
from arclink.operations.one_stage import Indexed
from arclink.operations.one_stage import LoadedBatch
from arclink.operations.tables import MadeTables
from arclink.operations.upgrade import Upgraded
from arclink.operations.verify import Verified
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Literal


def aggregate(
    uri: str,
    archives: Mapping[str, Archive],
    seconds: float = 20.0,
    *,
    direction: Literal['out', 'in', 'both'] = 'both',
    from_: Time | None = None,
    to: Time | None = None,
    at: Time | None = None,
    kinds: str | Sequence[str] = 'all',
    redirects: Literal['yes', 'no', 'only'] = 'yes',
) -> MergedLinks:
    """Return the links of a page in several archives, merged link by link.

    Args:
        archives: By the name of each archive: the URL of an ArcLink service or of another service
            that answers ``/LinkService/linkQuery?uri=``; the URL of any link query with ``{uri}``;
            the path of a file with an answer; or the answer itself, as bytes (RDF/XML).
        seconds: Maximum time for all services.
        uri: The URI of the query; all variants with the same SURT match. Without :// and
            without a known opaque scheme, http is assumed. A method before it, as in POST
            http://example.org/form, names the captures that answer this method. Expected: a
            URI such as http://example.org/, of at most 65,536 characters, without control
            characters.
        direction: Outlinks, inlinks, or both. Expected: out, in or both.
        from_: Only captures at or after this time; 2010 means the beginning of 2010.
            Expected: 1 to 14 digits such as 2013 or 20130211, or ISO 8601 such as
            2013-02-11T10:20:30Z. By default: all time.
        to: Only captures at or before this time; 2010 means the end of 2010. Expected: 1 to
            14 digits such as 2013 or 20130211, or ISO 8601 such as 2013-02-11T10:20:30Z. By
            default: all time.
        at: Links of the mementos in force at the end of this time; cannot be combined with
            from or to. Expected: 1 to 14 digits such as 2013 or 20130211, or ISO 8601 such
            as 2013-02-11T10:20:30Z.
        kinds: Only links of these kinds. Expected: navigation, resources, other or all, or
            element and attribute, such as a@href or img@src.
        redirects: Whether redirects (http@location, http@refresh, meta@refresh) count as
            links. Expected: yes, no or only.

    Raises:
        BadParameterError: A parameter is wrong.
        UsageError: An archive is neither a URL nor a file nor bytes.
        InstanceError: No archive answered; the text says why. If some did not, `archives` of the
            result says why.
    """

def ask(
    question: str,
    *uris: str,
    archives: Mapping[str, Archive | LinkGraph],
    seconds: float = 20.0,
    scope: Literal['page', 'prefix', 'host', 'domain', 'archive'] | None = None,
    level: Literal['uri', 'host', 'domain'] | None = None,
    by: str | None = None,
    external: bool = False,
    from_: Time | None = None,
    to: Time | None = None,
    kinds: str | Sequence[str] = 'navigation',
    redirects: Literal['yes', 'no', 'only'] = 'yes',
    words: str | None = None,
    by_date: bool = False,
    of: Literal['text', 'word'] = 'text',
    new: bool = False,
    min_hosts: int = 0,
    limit: int = 0,
) -> RowResult:
    """Return the answers of several archives to a question, merged where that is possible.

    A row has the names of its ``archives``. `about` of the result says for each archive whether it
    answered, which captures it read, and why it knows nothing.

    Args:
        question: Its name (``docs/reference/questions.md``).
        uris: What it is about, as in `LinkGraph.ask`.
        archives: By the name of each archive: the URL of an ArcLink service, or an open graph.
        seconds: Maximum time for all services.
        scope: What of the address is meant: the page, all pages that begin like it, its
            host, its host and all hosts below it (domain), or everything (archive).
            Expected: page, prefix, host, domain or archive. By default: what the address
            says with or without an asterisk; archive without an address.
        level: How pages are named in rows: each by its URI, or together as hosts or
            registered domains. It makes no difference to questions whose rows are something
            else. Expected: uri, host or domain. By default: the level of the question.
        by: Rows for each day, month or year of capture, or for each window of time that is
            listed. Expected: day, month, year, all, or times and ranges of them such as
            2009-11,2010-01/2010-03. By default: all time together, unless the question is
            about periods.
        external: Only links from other sites: from other hosts; at the level of domains,
            from other domains; to a domain, from outside of it. Addresses without a host,
            such as mailto:, are no sites.
        from_: Only captures at or after this time; 2010 means the beginning of 2010.
            Expected: 1 to 14 digits such as 2013 or 20130211, or ISO 8601 such as
            2013-02-11T10:20:30Z. By default: all time.
        to: Only captures at or before this time; 2010 means the end of 2010. Expected: 1 to
            14 digits such as 2013 or 20130211, or ISO 8601 such as 2013-02-11T10:20:30Z. By
            default: all time.
        kinds: Only links of these kinds. Expected: navigation, resources, other or all, or
            element and attribute, such as a@href or img@src.
        redirects: Whether redirects (http@location, http@refresh, meta@refresh) count as
            links. Expected: yes, no or only.
        words: The words that `find`, `search`, `frequency` and `first-said` look for:
            words, phrases in quotation marks such as "queryable state", and beginnings of
            words with an asterisk such as stream*. In addresses, `find` finds parts of
            words, too. Expected: words, phrases in quotation marks, and beginnings of words
            with an asterisk after them, at most 20, of together at most 1,000 characters.
            By default: every page.
        by_date: In `search`: pages that said it last come first.
        of: What `typical-anchors` counts: whole texts of links, or their words. Expected:
            text or word.
        new: Only links that an earlier capture of the page did not have, in `survival`: the
            age of others is not known.
        min_hosts: Only rows with at least this number of linking hosts, in questions that
            count these. Expected: a whole number from 0 to 999999999.
        limit: Largest number of rows in each list of the answer, such as the links of one
            direction; 0 for all. Expected: a number from 1 to 999999, or 0 for all.

    Raises:
        BadParameterError: There is no such question, or a parameter is wrong.
        UsageError: An archive is neither a URL nor a graph, or a graph shows one time.
        InstanceError: No archive answered; the text says why.
    """

def backup(
    store: Place,
    *,
    into: Place,
    graph: Place | None = None,
    no_verify: bool = False,
) -> Backup:
    """Back up a store, even while it is served or built (``arclink backup``).

    Args:
        store: The link graph: a file such as links.db, or a URL such as sqlite:///links.db
            or cassandra://node1,node2/links.
        graph: Folder with the graph files of all batches of a store in Cassandra, in HDFS,
            in S3 or on this machine.
        into: The copy: a file; for a store in Cassandra, a folder.
        no_verify: Do not check the copy. This is much faster.
    """

def build(
    *inputs: Place,
    store: Place,
    cdx: Place | Sequence[Place] | None = None,
    rules: Place | None = None,
    prefix: str | Sequence[str] | None = None,
    from_: Time | None = None,
    to: Time | None = None,
    no_redirects: bool = False,
    lazy: bool = False,
    heritrix_outlinks: bool = False,
    unwrap_wayback: bool = False,
    wayback_prefix: str | Sequence[str] | None = None,
    batch_size: str | None = None,
    runner: Literal['local', 'inline', 'hadoop', 'emr', 'spark'] = 'local',
    engine_conf: Place | None = None,
    engine_folder: str | None = None,
    cores: int | None = None,
    work: Place | None = None,
    keep_graph: Place | None = None,
    text: bool = False,
    rebuild: bool = False,
    quiet: bool = True,
) -> Built:
    """Build the link graph of archive files, or add more files to it (``arclink build``).

    Files that the store has already are skipped: the same call continues a build that was stopped.

    Args:
        inputs: Archive files, folders, globs, list files, or addresses of these.
        store: The link graph: a file such as links.db, or a URL such as sqlite:///links.db
            or cassandra://node1,node2/links.
        cdx: CDX or CDXJ file, ZipNum index, WACZ or pywb collection. By default: archives
            are indexed.
        rules: JSON file of filter rules. By default: HTML, feeds and sitemaps with status
            200.
        prefix: Only captures of this part of the web: *.example.org,
            http://example.org/news*, or a beginning of SURTs such as 'org,example)/'.
        from_: Only captures at or after this time; 2010 means the beginning of 2010.
            Expected: 1 to 14 digits such as 2013 or 20130211, or ISO 8601 such as
            2013-02-11T10:20:30Z. By default: all time.
        to: Only captures at or before this time; 2010 means the end of 2010. Expected: 1 to
            14 digits such as 2013 or 20130211, or ISO 8601 such as 2013-02-11T10:20:30Z. By
            default: all time.
        no_redirects: Do not read redirects to learn their targets.
        lazy: Also extract the data- attributes of lazy loading, such as data-src.
        heritrix_outlinks: Add the links that Heritrix recorded for a page.
        unwrap_wayback: Treat captures of a Wayback Machine's pages as captures of the
            original pages.
        wayback_prefix: With unwrap_wayback=True: only pages below this prefix, such as
            web.archive.org/web. By default: any host.
        batch_size: Archive bytes per batch; a batch goes through all stages at once.
            Expected: bytes, or a number with k, M, G or T, such as 300M. By default: 4G; on
            an engine 25 GB per core, with a store in a file at most 64G.
        runner: Where jobs run: on all cores, in one process, or on an engine. Expected:
            local, inline, hadoop, emr or spark.
        engine_conf: mrjob settings of the engine.
        engine_folder: Folder in HDFS or S3 for files between the stages, with runner
            hadoop, emr or spark. By default: a folder of the user in HDFS, or the work
            folder with --runner spark.
        cores: Number of parallel tasks; on an engine, the number of its cores. Expected: a
            whole number from 1 to 100000. By default: the number of processors; on Hadoop,
            one for each 250 MB of a batch.
        work: Folder for files between the stages. By default: next to the store, or the
            current folder for Cassandra.
        keep_graph: Folder that keeps the graph files of each batch, for `arclink backup`;
            files in HDFS or S3 stay there. By default: they are removed.
        text: Read the text of pages, too: for the tables `texts` and `words`, and to search
            in them.
        rebuild: Build a new store, and replace the present one when it is complete. Without
            INPUT, read the archive files that the store names. Settings that are not given
            are those of the store.
        quiet: Show only the summary, no progress.
    """

def fetch(
    *entries: Place,
    wayback: str,
    into: Place,
    cdx_server: str | None = None,
    timemap: str | None = None,
    rules: Place | None = None,
    from_: Time | None = None,
    to: Time | None = None,
    no_redirects: bool = False,
    replay: Literal['auto', 'original', 'rewritten'] = 'auto',
    delay: float = 1.0,
    timeout: float = 60.0,
    tries: int = 5,
    longest_wait: float = 600.0,
    payload_limit: str = '16M',
    contact: str | None = None,
    quiet: bool = True,
) -> FetchedCaptures:
    """Fetch captures from a Wayback Machine into a folder of WARC files (``arclink fetch``).

    Entries are URIs, ``http://host/path*``, ``*.host``, or files with one of these per line. If
    ``report.entries_left`` or ``report.captures_left`` is not 0, the same call continues.

    Args:
        entries: Lists of entries, or entries.
        wayback: Address of the archive up to /TIMESTAMP/URI, such as
            https://web.archive.org/web.
        into: Folder for the WARC files. The same folder continues an earlier fetch.
        cdx_server: Address of the CDX server. By default: the usual addresses are tried.
        timemap: Address of TimeMaps up to the URI; TimeMaps are then used instead of a CDX
            server.
        rules: JSON file of filter rules. By default: HTML, feeds and sitemaps with status
            200.
        from_: Only captures at or after this time; 2010 means the beginning of 2010.
            Expected: 1 to 14 digits such as 2013 or 20130211, or ISO 8601 such as
            2013-02-11T10:20:30Z. By default: all time.
        to: Only captures at or before this time; 2010 means the end of 2010. Expected: 1 to
            14 digits such as 2013 or 20130211, or ISO 8601 such as 2013-02-11T10:20:30Z. By
            default: all time.
        no_redirects: Do not read redirects to learn their targets.
        replay: Fetch original bytes, or rewritten pages and undo the rewriting; auto:
            original bytes if the archive has them. Expected: auto, original or rewritten.
        delay: Seconds from the end of an answer to the next request. Expected: a number
            from 0.
        timeout: Seconds without a byte after which a request fails. Expected: a number from
            0.1.
        tries: Maximum number of requests for one address. Expected: a whole number from 1.
        longest_wait: Maximum seconds to wait before a further try; an archive that asks for
            more ends the run. Expected: a number from 0.
        payload_limit: Maximum bytes of one payload; a larger one is truncated. Expected:
            bytes, or a number with k, M, G or T, such as 300M.
        contact: An address at which the archive's operators can reach you; sent in the
            User-Agent.
        quiet: Show only the summary, no progress.
    """

def forget(
    *prefixes: str,
    store: Place,
    from_: Time | None = None,
    to: Time | None = None,
    targets: bool = False,
    reason: str | None = None,
    whole_suffix: bool = False,
    dry_run: bool = False,
    clean: bool | None = None,
    list: bool = False,
    into: Place | None = None,
    import_: Place | None = None,
) -> ForgottenCaptures:
    """Remove captures of parts of the web after a takedown request (``arclink forget``).

    They cannot be brought back; ``dry_run=True`` counts them.

    Args:
        prefixes: Parts of the web.
        store: The link graph: a file such as links.db, or a URL such as sqlite:///links.db
            or cassandra://node1,node2/links.
        from_: Only captures at or after this time; 2010 means the beginning of 2010.
            Expected: 1 to 14 digits such as 2013 or 20130211, or ISO 8601 such as
            2013-02-11T10:20:30Z. By default: all time.
        to: Only captures at or before this time; 2010 means the end of 2010. Expected: 1 to
            14 digits such as 2013 or 20130211, or ISO 8601 such as 2013-02-11T10:20:30Z. By
            default: all time.
        targets: Also forget the links of other pages to these captures.
        reason: Reason of the takedown, for the record.
        whole_suffix: Also forget all sites below a public suffix, such as 'com' or 'uk,co'.
        dry_run: Show how much would be removed; change nothing.
        clean: Overwrite the removed bytes in the file now; or later, with `arclink forget
            --clean`. By default: now.
        list: List all takedowns: what, when, why and how much.
        into: Write all takedowns to this file, for import_ into another store.
        import_: Apply the takedowns in a file that into wrote; the store may be new.
    """

def index(
    *inputs: Place,
    into: Place,
    runner: Literal['local', 'inline', 'hadoop', 'emr', 'spark'] = 'local',
    engine_conf: Place | None = None,
    engine_folder: str | None = None,
    cores: int | None = None,
) -> Indexed:
    """Write the CDXJ rows of archive files to ``into/rows`` (``arclink index``).

    Args:
        inputs: Archive files, folders, globs, list files, or addresses of these.
        into: Folder for the files of this batch, which also has those of earlier stages.
        runner: Where jobs run: on all cores, in one process, or on an engine. Expected:
            local, inline, hadoop, emr or spark.
        engine_conf: mrjob settings of the engine.
        engine_folder: Folder in HDFS or S3 for files between the stages, with runner
            hadoop, emr or spark. By default: a folder of the user in HDFS, or the work
            folder with --runner spark.
        cores: Number of parallel tasks; on an engine, the number of its cores. Expected: a
            whole number from 1 to 100000. By default: the number of processors; on Hadoop,
            one for each 250 MB of a batch.
    """

def load(
    graph: str | None = None,
    *,
    folder: Place,
    store: Place,
    archive: Place | Sequence[Place] | None = None,
    runner: Literal['local', 'inline', 'hadoop', 'emr', 'spark'] = 'local',
    engine_conf: Place | None = None,
    cores: int | None = None,
) -> LoadedBatch:
    """Load the graph files in ``folder/graph``, or at an address, as one batch (``arclink load``).

    A store that does not exist is made.

    Args:
        graph: Address of a folder in HDFS or S3 with graph files that jobs wrote. By
            default: FOLDER/graph.
        folder: Folder with the files of the batch, from the stages before.
        archive: With GRAPH, an archive file of the graph, or a folder, glob or list of
            them; the store records them. By default: those of `arclink extract`.
        runner: Where jobs run: on all cores, in one process, or on an engine. Expected:
            local, inline, hadoop, emr or spark.
        engine_conf: mrjob settings of the engine.
        cores: Number of parallel tasks; on an engine, the number of its cores. Expected: a
            whole number from 1 to 100000. By default: the number of processors; on Hadoop,
            one for each 250 MB of a batch.
        store: The link graph: a file such as links.db, or a URL such as sqlite:///links.db
            or cassandra://node1,node2/links.
    """

def restore(
    backup: Place,
    store: Place,
    *,
    takedowns: Place | Sequence[Place] | None = None,
    no_later_takedowns: bool = False,
    replace: bool = False,
    no_verify: bool = False,
) -> Restore:
    """Replace a lost store by a backup, completely or not at all (``arclink restore``).

    Args:
        backup: The backup.
        store: The link graph: a file such as links.db, or a URL such as sqlite:///links.db
            or cassandra://node1,node2/links.
        takedowns: List of takedowns that is newer than the backup. By default: the lists
            next to store and backup.
        no_later_takedowns: Restore without a list of takedowns: nothing was forgotten after
            the backup.
        replace: Replace an existing store.
        no_verify: Do not check the store. This is much faster.
    """

def tables(
    store: Place,
    *,
    text: bool = False,
    archives: Place | Sequence[Place] | None = None,
    remove: bool = False,
    tables_at: Place | None = None,
    lost: bool = False,
    parts: int | None = None,
    runner: Literal['local', 'inline', 'hadoop', 'emr', 'spark'] = 'local',
    engine_conf: Place | None = None,
    engine_folder: str | None = None,
    cores: int | None = None,
) -> MadeTables:
    """Make the tables of a store that SQL reads, and name their files (``arclink tables``).

    Args:
        store: The link graph: a file such as links.db, or a URL such as sqlite:///links.db
            or cassandra://node1,node2/links.
        text: Read the text of pages, too: for the tables `texts` and `words`, and to search
            in them.
        archives: Where archive files are now, if they were moved: a folder, a URL that ends
            in /, or a file with a name and a path on each line, separated by a tab.
        remove: Remove the tables, and the slices of analyses. The next query copies or
            makes them again, but for the text of pages.
        tables_at: Address in HDFS or S3, or a folder, where tasks write the store's tables.
            The store remembers it. By default: next to the store.
        lost: With remove=True and tables_at: the place no longer exists, so nothing is
            removed there.
        parts: With tables_at, the number of files of each table. Expected: a whole number
            from 1 to 100000. By default: two per core, or one for each ten million rows.
        runner: Where jobs run: on all cores, in one process, or on an engine. Expected:
            local, inline, hadoop, emr or spark.
        engine_conf: mrjob settings of the engine.
        engine_folder: Folder in HDFS or S3 for files between the stages, with runner
            hadoop, emr or spark. By default: a folder of the user in HDFS, or the work
            folder with --runner spark.
        cores: Number of parallel tasks; on an engine, the number of its cores. Expected: a
            whole number from 1 to 100000. By default: the number of processors; on Hadoop,
            one for each 250 MB of a batch.
    """

def upgrade(
    store: Place,
    *,
    archives: Place | Sequence[Place] | None = None,
    cores: int | None = None,
    dry_run: bool = False,
) -> Upgraded:
    """Bring a store of an earlier version up to date (``arclink upgrade``).

    Args:
        store: The store: a file such as links.db, or a URL.
        archives: Where archive files are now, if they were moved: a folder, a URL that ends
            in /, or a file with a name and a path on each line, separated by a tab.
        cores: Number of parallel tasks; on an engine, the number of its cores. Expected: a
            whole number from 1 to 100000. By default: the number of processors; on Hadoop,
            one for each 250 MB of a batch.
        dry_run: Say what is old and what an upgrade costs; change nothing.
    """

def verify(
    store: Place,
    *,
    files: bool = False,
    archives: Place | Sequence[Place] | None = None,
) -> Verified:
    """Check that a store, or its archive files with ``files=True``, are sound (``arclink verify``).

    ``is_sound`` of the result says whether they are. Interrupted, the same call goes on.

    Args:
        store: The link graph: a file such as links.db, or a URL such as sqlite:///links.db
            or cassandra://node1,node2/links.
        files: Read the archive files of the store again instead, and compare them with what
            it knows.
        archives: Where archive files are now, if they were moved: a folder, a URL that ends
            in /, or a file with a name and a path on each line, separated by a tab.
    """
