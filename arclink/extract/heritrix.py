"""What the crawler Heritrix found on a page when it captured it: the ``outlink:`` lines of its metadata records.

A line is ``outlink: URI HOP CONTEXT``, in a record of type ``metadata`` that stands behind the response, with its id in
``WARC-Concurrent-To``. The context says where the link stood (``a/@href``, ``Location:``), or of which sort it is
(``=JS_MISC``). The hop says how it was found:

=== ============================================================
L   a link that somebody would follow
E   something that the page embeds
R   a redirect, or a refresh
S M a form that was filled in; a sitemap
P   what had to be fetched first (``dns:``, robots.txt): no link
X   speculation: something in a script that looks like an address
I   inference: an address that sites often have (``/favicon.ico``)
=== ============================================================

The last two are guesses: nobody wrote such a link. Their kind says so, ``guess@…``. Addresses are recorded as they resolve
from where the page was captured, so they are those of the capture that was read.

Source: ``Hop`` and ``LinkContext`` of heritrix3; https://heritrix.readthedocs.io/en/latest/glossary.html, *discovery path*.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from arclink.archives.reader import ArchiveFile, ArchiveRecord
from arclink.errors import UriError
from arclink.extract.html import Limits, PageLinks
from arclink.model import Kind, UriR
from arclink.reasons import Reason
from arclink.rows.pages import format_link
from arclink.uris.resolution import Base

GUESSES = frozenset("XI")
NO_LINKS = frozenset("P")

LONGEST_LIST = 16 << 20
"""Bytes of one metadata record that are read."""

_LINE = re.compile(
    r"outlink:[ \t]*(\S+)[ \t]+([A-Z])(?:[ \t]+(\S[^\r\n]*?))?[ \t]*\r?$", re.MULTILINE
)
_START = re.compile("^outlink:", re.MULTILINE)
_NAMED = {"Location:": Kind("http@location"), "meta": Kind("meta@refresh")}
_REFRESH = Kind("meta@refresh")
_REFRESHES = ("meta@delayed-refresh", "noscript@refresh")
"""Kinds that the crawler does not distinguish from a refresh that is a redirect."""

_NO_KIND = re.compile("[^a-z0-9-]+")

_BEHIND = 4
"""Records behind a response among which its metadata is looked for: its request, and what other processors add."""


class RecordedLink(NamedTuple):
    """One ``outlink:`` line."""

    uri: str
    hop: str
    context: str

    @property
    def kind(self) -> Kind:
        """Element and attribute where the context names them; ``guess@…`` for what was guessed, ``crawler@…`` for other sorts.

        >>> [RecordedLink("http://h/", *how).kind for how in (("L", "A/@HREF"), ("X", "=JS_MISC"), ("E", "=EMBED_MISC"))]
        ['a@href', 'guess@js', 'crawler@embed']
        """
        if self.hop not in GUESSES and self.context in _NAMED:
            return _NAMED[self.context]
        element, at, attribute = self.context.lower().partition("/@")
        is_named = bool(at) and not _NO_KIND.search(element + attribute)
        if is_named and self.hop not in GUESSES:
            return Kind(f"{element}@{attribute}")
        sort = _NO_KIND.sub(
            "-", self.context.lower().removeprefix("=").removesuffix("_misc")
        ).strip("-")
        return Kind(f"{'guess' if self.hop in GUESSES else 'crawler'}@{sort or 'other'}")


def parse_outlinks(text: str) -> Iterator[RecordedLink | None]:
    r"""Yield the ``outlink:`` lines of a metadata record; None for one that cannot be read.

    >>> list(parse_outlinks("seed:\noutlink: http://h/ L a/@href\noutlink: http://h/\n"))
    [RecordedLink(uri='http://h/', hop='L', context='a/@href'), None]
    """
    for start in _START.finditer(text):
        line = _LINE.match(text, start.start())
        yield RecordedLink(line[1], line[2], line[3] or "") if line else None


def find_metadata(archive: ArchiveFile, record: ArchiveRecord) -> ArchiveRecord | None:
    """Return the metadata record about a response, with its outlinks; None where none follows it.

    Args:
        archive: Open at the file.
        record: From `ArchiveFile.record_at`.
    """
    wanted = record.fields.get("warc-record-id")
    if not wanted:
        return None
    behind = archive.records(record.offset)
    for found in islice(behind, 1, 1 + _BEHIND):
        if not isinstance(found, ArchiveRecord) or found.record_type in (
            "response",
            "revisit",
            "resource",
        ):
            return None
        if (
            found.record_type == "metadata"
            and found.fields.get("warc-concurrent-to") == wanted
            and b"outlink:" in found.body
        ):
            return found
    return None


def add_outlinks(page: PageLinks, recorded: ArchiveRecord, base: Base, limits: Limits) -> None:
    """Add the links to a page that only the crawler found; count each line, whether its link is added or not.

    A link that the page has with the same kind and target is not added again; a guess or another sort without element,
    if the page has the target at all. Targets are compared as they resolve. The crawler does not know
    templates: what the page has in one (``template@href``) counts as any element's ``href``. Neither
    does it distinguish refreshes.

    Args:
        page: Links of the page; those added come behind them, without text.
        recorded: From `find_metadata`.
        base: Of the page, as captured.
        limits: What one page may cost.
    """
    kinds: set[tuple[str, str]] = set()
    targets: set[str] = set()
    for kind, reference, _, _ in page.links:
        with suppress(UriError):
            target = base.resolve(reference)
            kinds.add((kind, target))
            targets.add(target)
    for link in parse_outlinks(recorded.read_body(LONGEST_LIST).decode("utf-8", "replace")):
        reason, target = _judge(link, base)
        if reason is None and link is not None:
            kind = link.kind
            if any((same, target) in kinds for same in _same_kinds(kind)) or (
                kind.startswith(("guess@", "crawler@")) and target in targets
            ):
                reason = Reason.LINK_IN_PAGE
            elif len(page.written) >= limits.links:
                reason = Reason.LINK_TOO_MANY
            else:
                kinds.add((kind, target))
                page.written.append(format_link((kind, link.uri, "", None)))
        if reason is not None:
            page.counts[reason] += 1


def _same_kinds(kind: Kind) -> tuple[str, ...]:
    """Return the kinds that a link may have in the page if the crawler recorded it with this kind."""
    in_template = f"template@{kind.partition('@')[2]}"
    return (kind, in_template, *_REFRESHES) if kind == _REFRESH else (kind, in_template)


def _judge(link: RecordedLink | None, base: Base) -> tuple[Reason | None, UriR]:
    """Return why a line has no link to add, and where it leads."""
    if link is None:
        return Reason.LINK_INVALID, UriR("")
    if link.hop in NO_LINKS:
        return Reason.LINK_OTHER_KIND, UriR("")
    try:
        return None, base.resolve(link.uri)
    except UriError as error:
        return error.reason, UriR("")
