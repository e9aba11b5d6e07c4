"""``arclink forget``: removes captures of a site, or of a time of it, from a store permanently."""

from datetime import UTC, datetime
from pathlib import Path

import click

from arclink.cli.options import store_option
from arclink.errors import StoreError, UriError, UsageError
from arclink.model import Forgotten, Surt
from arclink.store.protocols import Answers, Removed, Takedown

EXAMPLES = ("arclink forget 'org,example)/private' --store links.db --reason 'request 17'",)


@click.command(short_help="Remove captures after a takedown request.")
@click.argument("prefixes", nargs=-1, metavar="[SURT-PREFIX]...")
@store_option
@click.option(
    "--from", "first", help="Only captures from this time on: 1 to 14 digits, or ISO 8601."
)
@click.option("--to", "last", help="Only captures up to and including this time.")
@click.option(
    "--targets", "has_targets", is_flag=True, help="Also forget the links of other pages to it."
)
@click.option("--reason", default="", help="Reason of the takedown, for the record.")
@click.option(
    "--dry-run", "is_trial", is_flag=True, help="Show how much would be removed; change nothing."
)
@click.option(
    "--clean/--no-clean",
    "cleans",
    default=None,
    help="Overwrite the bytes in the file now (the default) or later.",
)
@click.option(
    "--list", "lists", is_flag=True, help="List all takedowns: what, when, why and how much."
)
@click.option(
    "--export",
    "export_path",
    type=click.Path(),
    help="Write all takedowns to a file, for another store.",
)
@click.option(
    "--import",
    "import_path",
    type=click.Path(),
    help="Apply the takedowns in such a file; the store may be new.",
)
def command(
    prefixes: tuple[str, ...],
    store: str,
    first: str | None,
    last: str | None,
    has_targets: bool,
    reason: str,
    is_trial: bool,
    cleans: bool | None,
    lists: bool,
    export_path: str | None,
    import_path: str | None,
) -> None:
    """Remove captures from a store after a takedown request, and all data that only they show.

    SURT-PREFIX is the beginning of the captures' SURTs: 'org,example)/' is a site, 'org,example)/a'
    all pages of it that begin with /a, and 'org,example' the site with all its ports and
    subdomains.
    Later builds leave out what was forgotten, also when they read the same files again, and with
    --rebuild.
    """
    from arclink.files.atomic import write_whole
    from arclink.pipeline.build import only_build
    from arclink.store.location import exists, local_path_of, open_store
    from arclink.store.takedown_files import format_takedowns, read_takedowns

    if not (prefixes or import_path or lists or export_path or cleans):
        raise UsageError(
            "name a SURT prefix such as 'org,example)/', or give --list, --export, --import or --clean"
        )
    takedowns = _takedowns(prefixes, first, last, has_targets, reason)
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

                remove_slices(store)
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


def _takedowns(
    prefixes: tuple[str, ...], first: str | None, last: str | None, has_targets: bool, reason: str
) -> list[Takedown]:
    from arclink.store.takedown_files import span_of
    from arclink.timestamps import TimestampError

    try:
        span = span_of(first, last)
    except TimestampError as error:
        raise UsageError(f"--from or --to: {error}") from error
    if has_targets and (first or last):
        raise UsageError(
            "--targets cannot be used with --from or --to: a link leads to a page, not to a time of it"
        )
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [
        Takedown(Forgotten(surt_prefix(prefix), span, has_targets), reason, now)
        for prefix in prefixes
    ]


def surt_prefix(text: str) -> Surt:
    """Return the text if it is a SURT prefix.

    Raises:
        UsageError: It is empty, or a URL; the message names the prefix that was probably meant.

    >>> surt_prefix("org,example)/")
    'org,example)/'
    """
    from arclink.uris.surts import surt_of_query

    if not text.strip():
        raise UsageError(
            "an empty SURT prefix matches everything. Write one such as 'org,example)/', or remove the store"
        )
    if text.split() != [text] or not text.isprintable():
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
                raise UsageError(_meant(text, surt))
    elif text != text.lower():
        raise UsageError(f"{text!r}: SURTs are in lower case; write {text.lower()!r}")
    return Surt(text)


def _meant(text: str, surt: str) -> str:
    host, bracket, path = surt.partition(")")
    if not bracket:
        return f"{text!r}: not a SURT prefix; write {surt!r}"
    domain = host.partition(":")[0]
    page = f"{surt!r} for this page and all that begin like it, " if path != "/" else ""
    return f"{text!r}: a URL, not a SURT prefix; write {page}'{host})/' for the site, or {domain!r} with its ports and subdomains"


def _sentence(store: Answers, what: Forgotten, removed: Removed, *, is_trial: bool) -> str:
    counts = f"{removed.mementos:,} mementos, {removed.payloads:,} payloads, {removed.contents:,} contents, {removed.links:,} links"
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
        counts = f"{removed.mementos:,} mementos, {removed.payloads:,} payloads, {removed.contents:,} contents, {removed.links:,} links"
        targets = f", links to it included ({removed.inlinks:,})" if what.has_targets else ""
        click.echo(f"{takedown.time}  {_name(what)}{targets}  {counts}  {takedown.reason or '-'}")
