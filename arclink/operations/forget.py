"""Captures of a site, or of a time of it, removed from a store permanently."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import astuple, dataclass
from pathlib import Path

from arclink.access.declarations import (
    FROM,
    PATH,
    STORE,
    SWITCH,
    TEXT,
    TO,
    Given,
    Parameter,
    switch,
)
from arclink.access.texts import counted
from arclink.counts import Report
from arclink.errors import OperatorError, StoreError, UriError, UsageError
from arclink.model import Forgotten, Memento, Surt
from arclink.operations.operation import Operation, Say, stored_size
from arclink.store.protocols import Answers, Removed, Takedown
from arclink.timestamps import TimestampError, now_in_iso
from arclink.uris.hosts import host_of, is_public_suffix
from arclink.uris.surts import OF_PAGE, surt_of_query, without_method

PREFIXES = Parameter(
    "prefixes",
    "Parts of the web.",
    TEXT,
    is_list=True,
    is_positional=True,
    metavar="[PART]...",
    keeps_empty=True,
)
TARGETS = switch("targets", "Also forget the links of other pages to these captures.")
_REASON = Parameter("reason", "Reason of the takedown, for the record.", TEXT, metavar="TEXT")
_WHOLE_SUFFIX = switch(
    "whole-suffix", "Also forget all sites below a public suffix, such as 'com' or 'uk,co'."
)
_DRY_RUN = switch("dry-run", "Show how much would be removed; change nothing.")
_CLEAN = Parameter(
    "clean",
    "Overwrite the removed bytes in the file now; or later, with `arclink forget --clean`.",
    SWITCH,
    otherwise="now",
)
_LIST = switch("list", "List all takedowns: what, when, why and how much.")
_INTO = Parameter(
    "into",
    "Write all takedowns to this file, for --import into another store.",
    PATH,
    was=("export",),
    metavar="FILE",
)
_IMPORT_FILE = Parameter(
    "import",
    "Apply the takedowns in a file that --into wrote; the store may be new.",
    PATH,
    metavar="FILE",
)

_LISTED = 10
"""Number of takedowns up to which one that removed nothing has its own sentence."""


@dataclass(frozen=True, slots=True)
class TakenDown:
    """What one takedown removed, or would remove.

    Attributes:
        takedown: What was to be forgotten, when and why.
        removed: The numbers of what it removed.
        about_pages: Number of the captures that are records about pages.
    """

    takedown: Takedown
    removed: Removed
    about_pages: int


@dataclass(frozen=True, slots=True)
class ForgottenCaptures(Report):
    """The takedowns of a call.

    Attributes:
        done: Those that the call named, in their order.
        bytes: Size of the store if it was written again.
        known: All takedowns of the store, if they were to be listed.
    """

    done: Sequence[TakenDown] = ()
    bytes: int | None = None
    known: Sequence[tuple[Takedown, Removed]] | None = None


def forget(given: Given, say: Say, show: Say | None = None) -> ForgottenCaptures:
    """Forget what is named; ``show`` receives a sentence about each takedown that has happened.

    By default, these are notes. So they are also in the notes of an error that follows.
    """
    from arclink.analysis.relations.forgetting import forgetting, forgetting_at_addresses
    from arclink.files.atomic import write_whole
    from arclink.store.location import (
        exists,
        is_remote,
        local_path_of,
        open_store,
        rebuilt_path,
    )
    from arclink.store.locks import only_build, only_change
    from arclink.store.takedown_files import add_to_list, format_takedowns, import_takedowns

    store, prefixes, is_trial = (
        STORE.required(given),
        PREFIXES.many(given),
        _DRY_RUN.required(given),
    )
    cleans, lists = _CLEAN.optional(given), _LIST.required(given)
    import_path, export_path = _IMPORT_FILE.optional(given), _INTO.optional(given)
    if not (prefixes or import_path or lists or export_path or cleans):
        raise UsageError(
            "name a part such as '*.example.org' or 'org,example)/', or give --list, --into, "
            "--import or --clean"
        )
    named = _takedowns(given)
    takedowns = [*named, *(import_takedowns(Path(import_path)) if import_path else ())]
    done: list[TakenDown] = []
    size, known = None, list[tuple[Takedown, Removed]]()
    if takedowns or cleans:
        if not exists(store) and not (import_path and not is_trial):
            raise StoreError(
                f"no store at {store}. Build one: arclink build INPUT... --store {store}"
            )
        path = local_path_of(store)

        has_waited = False

        def wait() -> None:
            """Note what to forget: a build that is loading a batch forgets it with the batch."""
            nonlocal has_waited
            has_waited = True
            if takedowns and not is_remote(store) and not is_trial:
                with open_store(store) as shown:
                    _check_matches(shown, [takedown.what for takedown in named])
                add_to_list(path, takedowns)
            say(f"{store}: waiting until another process has changed it.")

        with only_change(path, wait), open_store(store, create=True) as opened:
            _check_matches(opened, [takedown.what for takedown in named])
            is_real = bool(takedowns) and not is_trial
            present = [one.what for one in takedowns if is_real and _is_present(opened, one.what)]
            with forgetting_at_addresses(opened) if is_real else nullcontext():
                with forgetting(store, opened, present) if is_real else nullcontext():
                    about_pages = [_records_about_pages(opened, one.what) for one in takedowns]
                    removed = opened.forget_each(takedowns, is_trial=is_trial)
                    if has_waited and not is_trial:
                        removed = [_removed_by(opened, one.what) for one in takedowns]
                    done = [*map(TakenDown, takedowns, removed, about_pages)]
                    _show_removed(opened, done, show or say, is_trial=is_trial)
                if not is_trial:
                    from arclink.analysis.matrices.slice_cache import remove_slices
                    from arclink.captures.subsets.catalog import SubsetCatalog

                    remove_slices(store)
                    if not is_remote(store):
                        # A killed rebuild's store has what is forgotten; one that runs forgets it.
                        with suppress(StoreError), only_build(path):
                            shutil.rmtree(rebuilt_path(store).parent, ignore_errors=True)
                    SubsetCatalog(store).reduce_lists(opened)
                if cleans is not False and not is_trial:
                    opened.clean()
                    size = opened.sums().bytes
                    (show or say)(f"{store}: written again, {stored_size(size)}.")
    if lists or export_path:
        with open_store(store) as opened:
            known = list(opened.forgotten())
        if export_path:
            write_whole(Path(export_path), format_takedowns(takedown for takedown, _ in known))
    return ForgottenCaptures(done, size, known if lists else None)


def _takedowns(given: Given) -> list[Takedown]:
    from arclink.store.takedown_files import span_of

    first, last, has_targets = given.text(FROM), given.text(TO), TARGETS.required(given)
    try:
        span = span_of(first or None, last or None)
    except TimestampError as error:
        raise UsageError(f"--from or --to: {error}") from error
    if has_targets and (first or last):
        raise UsageError(
            "--targets cannot be used with --from or --to: a link leads to a page, not to a "
            "time of it"
        )
    is_captured = _captured_in(STORE.required(given))
    prefixes = [surt_prefix(prefix, is_captured) for prefix in PREFIXES.many(given)]
    suffixes = [] if _WHOLE_SUFFIX.required(given) or _DRY_RUN.required(given) else prefixes
    for prefix in filter(_is_suffix, suffixes):
        raise UsageError(
            f"{prefix!r}: a public suffix, with the sites of many owners. Name a site such as "
            f"'{prefix.rstrip(',')},example)/', or use --whole-suffix to forget all of them; "
            "--dry-run shows how much that is"
        )
    now = now_in_iso()
    return [
        Takedown(Forgotten(prefix, span, has_targets), _REASON.optional(given) or "", now)
        for prefix in prefixes
    ]


def _is_suffix(prefix: Surt) -> bool:
    """Return whether a prefix selects all names below a public suffix, or a part of these names."""
    host = host_of(Surt(prefix.rstrip(",") + ")/"))
    return bool(host) and ")" not in prefix and is_public_suffix(host)


def _captured_in(where: str) -> Callable[[Surt], bool]:
    """Return a function that says whether a store has captures below a SURT prefix."""
    from arclink.store.location import exists, open_store

    def is_captured(prefix: Surt) -> bool:
        if not exists(where):
            return False
        with open_store(where) as store:
            return next(_captures(store, Forgotten(prefix)), None) is not None

    return is_captured


def _captures(store: Answers, what: Forgotten) -> Iterator[Memento]:
    """Yield the captures of a store that a takedown has."""
    from arclink.store.layouts import keys_of

    keys = keys_of(store)
    for prefix in keys.prefixes(what):
        for surt in store.captured_surts(prefix):
            for memento in store.mementos(surt, what.span):
                if keys.has(what, surt, memento.original):
                    yield memento


def _records_about_pages(store: Answers, what: Forgotten) -> int:
    """Return the number of captures to forget that are records about a page."""
    return sum(OF_PAGE in memento.surt for memento in _captures(store, what))


def _is_present(store: Answers, what: Forgotten) -> bool:
    """Return whether a store has captures that a takedown has, or links if it is about links."""
    from arclink.store.layouts import keys_of

    surts = store.surts(what.prefix) if what.has_targets else iter(())
    # Old keys do not show whether a link leads there.
    may_be_target = what.has_targets and not keys_of(store).are_present
    is_target = may_be_target or any(map(what.has, surts))
    return is_target or next(_captures(store, what), None) is not None


def _check_matches(store: Answers, subjects: list[Forgotten]) -> None:
    """Check that each takedown has a capture, or a link if it is about links, or is recorded.

    Raises:
        OperatorError: A takedown has no capture, and no link.
    """
    recorded = {takedown.what for takedown, _ in store.forgotten()}
    for what in subjects:
        if what in recorded or _is_present(store, what):
            continue
        raise OperatorError(
            f"{takedown_name(what)}: no capture matches, so nothing was forgotten. "
            "`arclink timemap URI` shows the captures of a page; a list for --import may name "
            "captures of later builds"
        )


def surt_prefix(text: str, is_captured: Callable[[Surt], bool] = lambda prefix: True) -> Surt:
    """Return the beginning of the SURTs of a part of the web.

    Args:
        text: As a user wrote it: an address with an asterisk (`prefixes_meant`), or the beginning
            of SURTs itself.
        is_captured: Returns whether there are captures below a prefix. The message of an error
            names no other prefixes.

    Raises:
        UsageError: It is empty, or a URL without an asterisk; the message names the prefixes that
            were probably meant.
        OperatorError: It is a URL, and none of these prefixes has captures.

    >>> surt_prefix("org,example)/"), surt_prefix("*.example.org")
    ('org,example)/', 'org,example')
    """
    from arclink.access.queries import prefixes_meant

    if not text.strip():
        raise UsageError(
            "an empty SURT prefix matches everything. Write one such as 'org,example)/', or "
            "remove the store"
        )
    if meant := prefixes_meant(text):
        # Several end within a host name, as a prefix of whole labels does.
        return meant[0] if len(meant) == 1 else Surt(meant[0][:-1])
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
                raise _is_a_url(text, surt, is_captured)
    elif surt_itself != surt_itself.lower():
        raise UsageError(f"{text!r}: SURTs are in lower case; write {text.lower()!r}")
    return Surt(text)


def _is_a_url(
    text: str, surt: Surt, is_captured: Callable[[Surt], bool]
) -> OperatorError | UsageError:
    """Return the error about a text that is a URL and no SURT prefix."""
    host, bracket, path = surt.partition(")")
    domain = Surt(host.partition(":")[0])
    prefixes = {
        surt: "for this page and all that begin like it" if path != "/" else "for the site",
        Surt(f"{host})/"): "for the site" if bracket else "",
        domain: "with its ports and subdomains" if bracket and not _is_suffix(domain) else "",
    }
    choices = [
        f"{prefix!r} {use}" for prefix, use in prefixes.items() if use and is_captured(prefix)
    ]
    if not choices:
        return OperatorError(
            f"{text!r}: a URL, of which there is no capture (its SURT is {surt!r})"
        )
    return UsageError(f"{text!r}: a URL, not a SURT prefix; write {', or '.join(choices)}")


def _removed_by(store: Answers, what: Forgotten) -> Removed:
    """Return the numbers that a takedown has removed from a store, in whichever process."""
    return next(removed for takedown, removed in store.forgotten() if takedown.what == what)


def _show_removed(
    store: Answers, takedowns: Sequence[TakenDown], show: Say, *, is_trial: bool
) -> None:
    """Show a sentence per takedown; of an imported list, one for all that removed nothing."""
    without = 0
    for done in takedowns:
        if len(takedowns) > _LISTED and not any(astuple(done.removed)):
            without += 1
        else:
            show(_sentence(store, done, is_trial=is_trial))
    if without:
        verb = "would be" if is_trial else "are"
        show(
            f"{counted(without, 'takedown')} of which the store has nothing now {verb} recorded; "
            "later builds leave out their captures."
        )


def _sentence(store: Answers, done: TakenDown, *, is_trial: bool) -> str:
    what = done.takedown.what
    verb = "would be forgotten" if is_trial else "forgotten"
    sentence = f"{takedown_name(what)}: {counts_removed(done.removed)} {verb}"
    if done.about_pages:
        sentence += f", {counted(done.about_pages, 'record')} about pages (urn:text:URI) included"
    if what.has_targets:
        return f"{sentence}, {done.removed.inlinks:,} of these links are from other pages."
    if is_trial:
        return f"{sentence}."
    links = sum(
        count
        for surt in store.surts(what.prefix)
        if what.has(surt)
        for _, count in store.inlink_kinds(surt)
    )
    return f"{sentence}; {links:,} links to it stay (--targets)." if links else f"{sentence}."


def counts_removed(removed: Removed) -> str:
    """Return the numbers of what a takedown removed, in words."""
    return (
        f"{counted(removed.mementos, 'memento')}, {counted(removed.payloads, 'payload')}, "
        f"{counted(removed.contents, 'content')}, {counted(removed.links, 'link')}"
    )


def takedown_name(what: Forgotten) -> str:
    """Return a SURT prefix with its times, for messages."""
    everything = Forgotten(what.prefix).span
    first = "" if what.span.first == everything.first else f" from {what.span.first}"
    last = "" if what.span.last == everything.last else f" to {what.span.last}"
    return f"{what.prefix}{first}{last}"


FORGET = Operation(
    (
        PREFIXES,
        STORE,
        FROM,
        TO,
        TARGETS,
        _REASON,
        _WHOLE_SUFFIX,
        _DRY_RUN,
        _CLEAN,
        _LIST,
        _INTO,
        _IMPORT_FILE,
    ),
    forget,
)
