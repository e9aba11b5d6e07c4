"""The functions of the package ``arclink`` that make, change and copy stores, or ask several.

Their keywords are the parameters of the command with the same name, with ``_`` for ``-`` and
``from_`` for ``from``. Nothing is printed: notes of the command are in the result, and ``quiet``
is on by default. Errors name keywords instead of options.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from arclink.access.capabilities import Place, in_python, keyword, pairs, takes
from arclink.access.declarations import sort_out
from arclink.access.queries import CURSOR
from arclink.access.queries import LIMIT as OF_PAGE
from arclink.analysis.questions.queries import ADDRESSES, ASK_PARAMETERS
from arclink.errors import ArclinkError, UsageError, hide_credentials
from arclink.linkgraph import Archive, LinkGraph, MergedLinks, merge_answers, merge_links
from arclink.operations.backups import (
    BACKUP,
    RESTORE,
    Backup,
    Restore,
)
from arclink.operations.build import BUILD, Built
from arclink.operations.fetch import FETCH, FetchedCaptures
from arclink.operations.forget import FORGET, ForgottenCaptures
from arclink.operations.one_stage import INDEX, LOAD, Indexed, LoadedBatch
from arclink.operations.tables import TABLES, MadeTables
from arclink.operations.upgrade import UPGRADE, Upgraded
from arclink.operations.verify import VERIFY, Verified
from arclink.others.federation.merge import MERGED_PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arclink.analysis.charts.results import RowResult
    from arclink.operations.operation import Operation, Result


def _done(operation: Operation[Result], given: Mapping[str, Any]) -> Result:
    """Run an operation with keywords, and return its result with the notes.

    Raises:
        UsageError: A keyword is missing.
        ArclinkError: See the function; what was noted before is in the notes of the error.
    """
    declared, notes = operation.declared, list[str]()
    given_texts = [*pairs(given, declared)]
    for one in declared:
        if one.is_required and given.get(keyword(one.name)) in (None, "", ()):
            raise UsageError(f"{keyword(one.name)}: it is missing. {one.about}")

    def say(note: str) -> None:
        notes.append(in_python(hide_credentials(note), declared))

    try:
        done = operation.run(sort_out(given_texts, declared), say)
    except ArclinkError as error:
        for note in notes:
            error.add_note(note)
        raise
    return replace(done, notes=tuple(notes))


@takes(*MERGED_PARAMETERS, but=(OF_PAGE, CURSOR))
def aggregate(
    uri: str, archives: Mapping[str, Archive], seconds: float = 20.0, **given: Any
) -> MergedLinks:
    """Return the links of a page in several archives, merged link by link.

    Args:
        archives: By the name of each archive: the URL of an ArcLink service or of another service
            that answers ``/LinkService/linkQuery?uri=``; the URL of any link query with ``{uri}``;
            the path of a file with an answer; or the answer itself, as bytes (RDF/XML).
        seconds: Maximum time for all services.

    Raises:
        BadParameterError: A parameter is wrong.
        UsageError: An archive is neither a URL nor a file nor bytes.
        InstanceError: No archive answered; the text says why. If some did not, `archives` of the
            result says why.
    """
    return merge_links(uri, archives, seconds, given)


@takes(*ASK_PARAMETERS, but=(ADDRESSES,))
def ask(
    question: str,
    *uris: str,
    archives: Mapping[str, Archive | LinkGraph],
    seconds: float = 20.0,
    **given: Any,
) -> RowResult:
    """Return the answers of several archives to a question, merged where that is possible.

    A row has the names of its ``archives``. `about` of the result says for each archive whether it
    answered, which captures it read, and why it knows nothing.

    Args:
        question: Its name (``docs/reference/questions.md``).
        uris: What it is about, as in `LinkGraph.ask`.
        archives: By the name of each archive: the URL of an ArcLink service, or an open graph.
        seconds: Maximum time for all services.

    Raises:
        BadParameterError: There is no such question, or a parameter is wrong.
        UsageError: An archive is neither a URL nor a graph, or a graph shows one time.
        InstanceError: No archive answered; the text says why.
    """
    return merge_answers(question, uris, archives, seconds, given)


@takes(*BUILD.declared)
def build(*inputs: Place, store: Place, **options: Any) -> Built:
    """Build the link graph of archive files, or add more files to it (``arclink build``).

    Files that the store has already are skipped: the same call continues a build that was stopped.
    """
    return _done(BUILD, {"inputs": inputs, "store": store, **options})


@takes(*INDEX.declared)
def index(*inputs: Place, into: Place, **options: Any) -> Indexed:
    """Write the CDXJ rows of archive files to ``into/rows`` (``arclink index``)."""
    return _done(INDEX, {"inputs": inputs, "into": into, **options})


@takes(*LOAD.declared)
def load(graph: str | None = None, *, folder: Place, store: Place, **options: Any) -> LoadedBatch:
    """Load the graph files in ``folder/graph``, or at an address, as one batch (``arclink load``).

    A store that does not exist is made.
    """
    return _done(LOAD, {"graph": graph, "folder": folder, "store": store, **options})


@takes(*FETCH.declared)
def fetch(*entries: Place, wayback: str, into: Place, **options: Any) -> FetchedCaptures:
    """Fetch captures from a Wayback Machine into a folder of WARC files (``arclink fetch``).

    Entries are URIs, ``http://host/path*``, ``*.host``, or files with one of these per line. If
    ``report.entries_left`` or ``report.captures_left`` is not 0, the same call continues.
    """
    return _done(FETCH, {"entries": entries, "wayback": wayback, "into": into, **options})


@takes(*TABLES.declared)
def tables(store: Place, **options: Any) -> MadeTables:
    """Make the tables of a store that SQL reads, and name their files (``arclink tables``)."""
    return _done(TABLES, {"store": store, **options})


@takes(*FORGET.declared)
def forget(*prefixes: str, store: Place, **options: Any) -> ForgottenCaptures:
    """Remove captures of parts of the web after a takedown request (``arclink forget``).

    They cannot be brought back; ``dry_run=True`` counts them.
    """
    return _done(FORGET, {"prefixes": prefixes, "store": store, **options})


@takes(*BACKUP.declared)
def backup(store: Place, *, into: Place, **options: Any) -> Backup:
    """Back up a store, even while it is served or built (``arclink backup``)."""
    return _done(BACKUP, {"store": store, "into": into, **options})


@takes(*RESTORE.declared)
def restore(backup: Place, store: Place, **options: Any) -> Restore:
    """Replace a lost store by a backup, completely or not at all (``arclink restore``)."""
    return _done(RESTORE, {"backup": backup, "store": store, **options})


@takes(*UPGRADE.declared)
def upgrade(store: Place, **options: Any) -> Upgraded:
    """Bring a store of an earlier version up to date (``arclink upgrade``)."""
    return _done(UPGRADE, {"store": store, **options})


@takes(*VERIFY.declared)
def verify(store: Place, **options: Any) -> Verified:
    """Check that a store, or its archive files with ``files=True``, are sound (``arclink verify``).

    ``is_sound`` of the result says whether they are. Interrupted, the same call goes on.
    """
    return _done(VERIFY, {"store": store, **options})
