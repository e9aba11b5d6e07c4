"""``arclink forget``: removes captures of a site, or of a time of it, from a store permanently."""

from datetime import UTC, datetime
from pathlib import Path

import click

from arclink.access.declarations import PATH, SWITCH, TEXT, Given, Parameter, switch
from arclink.access.times import FROM, TO
from arclink.cli.declared_options import takes
from arclink.cli.options import STORE
from arclink.errors import StoreError, UriError, UsageError
from arclink.model import Forgotten, Surt
from arclink.store.protocols import Answers, Removed, Takedown

EXAMPLES = ("arclink forget 'org,example)/private' --store links.db --reason 'request 17'",)

PREFIXES = Parameter(
    "prefixes",
    "Beginnings of SURTs.",
    TEXT,
    is_list=True,
    is_positional=True,
    metavar="[SURT-PREFIX]...",
    keeps_empty=True,
)
TARGETS = switch("targets", "Also forget the links of other pages to these captures.")
REASON = Parameter("reason", "Reason of the takedown, for the record.", TEXT, metavar="TEXT")
DRY_RUN = switch("dry-run", "Show how much would be removed; change nothing.")
CLEAN = Parameter(
    "clean",
    "Overwrite the removed bytes in the file now; or later, with `arclink forget --clean`.",
    SWITCH,
    otherwise="now",
)
LIST = switch("list", "List all takedowns: what, when, why and how much.")
EXPORT_FILE = Parameter(
    "export", "Write all takedowns to a file, for another store.", PATH, metavar="FILE"
)
IMPORT_FILE = Parameter(
    "import",
    "Apply the takedowns in a file that --export wrote; the store may be new.",
    PATH,
    metavar="FILE",
)


@click.command()
@takes(PREFIXES, STORE, FROM, TO, TARGETS, REASON, DRY_RUN, CLEAN, LIST, EXPORT_FILE, IMPORT_FILE)
def command(given: Given) -> None:
    """Remove captures from a store after a takedown request, and all data that only they show.

    SURT-PREFIX is the beginning of the captures' SURTs: 'org,example)/' is a site, 'org,example)/a'
    all pages of it that begin with /a, and 'org,example' the site with all its ports and
    subdomains. Later builds leave out these captures, even if they read the same files again or use
    --rebuild.
    """
    from arclink.files.atomic import write_whole
    from arclink.pipeline.build import only_build
    from arclink.store.location import exists, local_path_of, open_store
    from arclink.store.takedown_files import format_takedowns, read_takedowns

    store, prefixes, is_trial = STORE.sure(given), PREFIXES.all_of(given), DRY_RUN.sure(given)
    cleans, lists = CLEAN.of(given), LIST.sure(given)
    import_path, export_path = IMPORT_FILE.of(given), EXPORT_FILE.of(given)
    if not (prefixes or import_path or lists or export_path or cleans):
        raise UsageError(
            "name a SURT prefix such as 'org,example)/', or give --list, --export, --import "
            "or --clean"
        )
    takedowns = _takedowns(given)
    if import_path:
        takedowns += read_takedowns(Path(import_path))
    if takedowns or cleans:
        if not exists(store) and not (import_path and not is_trial):
            raise StoreError(
                f"no store at {store}. Build one: arclink build INPUT... --store {store}"
            )
        with only_build(local_path_of(store)), open_store(store, create=True) as opened:
            for takedown in takedowns:
                removed = opened.forget(takedown, is_trial=is_trial)
                click.echo(_sentence(opened, takedown.what, removed, is_trial=is_trial))
            if not is_trial:
                from arclink.analysis.slice_cache import remove_slices
                from arclink.subsets.catalog import SubsetCatalog

                remove_slices(store)
                SubsetCatalog(store).reduce_lists(opened)
            if cleans is not False and not is_trial:
                opened.clean()
                click.echo(f"{store}: written again, {opened.sums().bytes:,} bytes.")
    if lists or export_path:
        with open_store(store) as opened:
            known = list(opened.forgotten())
        if export_path:
            write_whole(Path(export_path), format_takedowns(takedown for takedown, _ in known))
        if lists:
            _show(known)


def _takedowns(given: Given) -> list[Takedown]:
    from arclink.store.takedown_files import span_of
    from arclink.timestamps import TimestampError

    first, last, has_targets = given.text(FROM), given.text(TO), TARGETS.sure(given)
    try:
        span = span_of(first or None, last or None)
    except TimestampError as error:
        raise UsageError(f"--from or --to: {error}") from error
    if has_targets and (first or last):
        raise UsageError(
            "--targets cannot be used with --from or --to: a link leads to a page, not to a "
            "time of it"
        )
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [
        Takedown(Forgotten(surt_prefix(prefix), span, has_targets), REASON.of(given) or "", now)
        for prefix in PREFIXES.all_of(given)
    ]


def surt_prefix(text: str) -> Surt:
    """Return the text if it is a SURT prefix.

    Raises:
        UsageError: It is empty, or a URL; the message names the prefix that was probably meant.

    >>> surt_prefix("org,example)/")
    'org,example)/'
    """
    from arclink.uris.methods import without_method
    from arclink.uris.surts import surt_of_query

    if not text.strip():
        raise UsageError(
            "an empty SURT prefix matches everything. Write one such as 'org,example)/', or "
            "remove the store"
        )
    surt_itself = without_method(Surt(text))  # the key of captures that answer POST has a blank
    if surt_itself.split() != [surt_itself] or not text.isprintable():
        raise UsageError(f"{text!r}: a SURT has no spaces and no control characters")
    if ")" not in text or "://" in text:
        if "." in text or "/" in text or ":" in text:
            try:
                surt = surt_of_query(text)
            except UriError as error:
                raise UsageError(
                    f"{text!r}: neither a SURT prefix such as 'org,example)/' nor a URL: {error}"
                ) from error
            if surt != text:
                raise UsageError(_corrected_prefix(text, surt))
    elif surt_itself != surt_itself.lower():
        raise UsageError(f"{text!r}: SURTs are in lower case; write {text.lower()!r}")
    return Surt(text)


def _corrected_prefix(text: str, surt: str) -> str:
    host, bracket, path = surt.partition(")")
    if not bracket:
        return f"{text!r}: not a SURT prefix; write {surt!r}"
    domain = host.partition(":")[0]
    page = f"{surt!r} for this page and all that begin like it, " if path != "/" else ""
    return (
        f"{text!r}: a URL, not a SURT prefix; write {page}'{host})/' for the site, or "
        f"{domain!r} with its ports and subdomains"
    )


def _sentence(store: Answers, what: Forgotten, removed: Removed, *, is_trial: bool) -> str:
    counts = (
        f"{removed.mementos:,} mementos, {removed.payloads:,} payloads, {removed.contents:,} "
        f"contents, {removed.links:,} links"
    )
    sentence = f"{_name(what)}: {counts} {'would be ' if is_trial else ''}forgotten"
    if what.has_targets:
        return f"{sentence}, {removed.inlinks:,} of these links are from other pages."
    if is_trial:
        return f"{sentence}."
    links = sum(
        count
        for surt in store.surts(what.prefix)
        if what.has(surt)
        for _, count in store.inlink_kinds(surt)
    )
    return f"{sentence}; {links:,} links to it stay (--targets)." if links else f"{sentence}."


def _name(what: Forgotten) -> str:
    everything = Forgotten(what.prefix).span
    first = "" if what.span.first == everything.first else f" from {what.span.first}"
    last = "" if what.span.last == everything.last else f" to {what.span.last}"
    return f"{what.prefix}{first}{last}"


def _show(known: list[tuple[Takedown, Removed]]) -> None:
    if not known:
        click.echo("nothing was forgotten.")
    for takedown, removed in known:
        what = takedown.what
        counts = (
            f"{removed.mementos:,} mementos, {removed.payloads:,} payloads, "
            f"{removed.contents:,} contents, {removed.links:,} links"
        )
        targets = f", links to it included ({removed.inlinks:,})" if what.has_targets else ""
        click.echo(f"{takedown.time}  {_name(what)}{targets}  {counts}  {takedown.reason or '-'}")
