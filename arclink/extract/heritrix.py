"""The links that the crawler Heritrix recorded for a page: ``outlink:`` lines of metadata records.

A line is ``outlink: URI HOP CONTEXT``. It is in a record of type ``metadata`` after the response,
whose id is in the field ``WARC-Concurrent-To``. The context says where the link is (``a/@href``,
``Location:``), or names a group of links (``=JS_MISC``). The hop shows how it was found:

=== =======================================================================
L   a link that a reader can follow
E   a resource that the page embeds
R   a redirect, or a refresh
S M a form that the crawler filled in; a sitemap
P   a prerequisite of the fetch (``dns:``, robots.txt), which is not a link
X   speculation: text in a script that looks like an address
I   inference: an address that many sites have (``/favicon.ico``)
=== =======================================================================

The last two are guesses, not links in the page. Their kind is ``guess@…``. Heritrix resolves
addresses against the URI of the capture, so they belong to that URI.

Source: ``Hop`` and ``LinkContext`` of heritrix3;
https://heritrix.readthedocs.io/en/latest/glossary.html, *discovery path*.
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

_GUESSES = frozenset("XI")
_NO_LINKS = frozenset("P")

_LONGEST_LIST = 16 << 20
"""Maximum bytes to read of one metadata record."""

_LINE = re.compile(
    r"outlink:[ \t]*+(\S++)[ \t]++([A-Z])(?:[ \t]++(\S[^\r\n]*+))?+[ \t]*+\r?$", re.MULTILINE
)
_START = re.compile("^outlink:", re.MULTILINE)
_NAMED = {"Location:": Kind("http@location"), "meta": Kind("meta@refresh")}
_REFRESH = Kind("meta@refresh")
_REFRESHES = ("meta@delayed-refresh", "noscript@refresh")
"""Kinds that the crawler records as a plain refresh."""

_NO_KIND = re.compile("[^a-z0-9-]+")

_RECORDS_READ = 4
"""Maximum distance of the metadata record from its response, in records.

The request, and records of other processors, may be between them.
"""


class RecordedLink(NamedTuple):
    """One ``outlink:`` line."""

    uri: str
    hop: str
    context: str

    @property
    def kind(self) -> Kind:
        """The kind of the link.

        It is element and attribute if the context names them, ``guess@…`` for guesses, else
        ``crawler@…``.

        >>> found = ("L", "A/@HREF"), ("X", "=JS_MISC"), ("E", "=EMBED_MISC")
        >>> [RecordedLink("http://h/", *how).kind for how in found]
        ['a@href', 'guess@js', 'crawler@embed']
        """
        if self.hop not in _GUESSES and self.context in _NAMED:
            return _NAMED[self.context]
        element, at, attribute = self.context.lower().partition("/@")
        is_named = bool(at) and not _NO_KIND.search(element + attribute)
        if is_named and self.hop not in _GUESSES:
            return Kind(f"{element}@{attribute}")
        sort = _NO_KIND.sub(
            "-", self.context.lower().removeprefix("=").removesuffix("_misc")
        ).strip("-")
        return Kind(f"{'guess' if self.hop in _GUESSES else 'crawler'}@{sort or 'other'}")


def parse_outlinks(text: str) -> Iterator[RecordedLink | None]:
    r"""Yield the ``outlink:`` lines of a metadata record; None for a line that is not valid.

    >>> list(parse_outlinks("seed:\noutlink: http://h/ L a/@href\noutlink: http://h/\n"))
    [RecordedLink(uri='http://h/', hop='L', context='a/@href'), None]
    """
    for start in _START.finditer(text):
        line = _LINE.match(text, start.start())
        yield RecordedLink(line[1], line[2], (line[3] or "").rstrip(" \t")) if line else None


def find_metadata(archive: ArchiveFile, record: ArchiveRecord) -> ArchiveRecord | None:
    """Return the metadata record with the outlinks of a capture; None if none follows it.

    Args:
        archive: The open file of the capture.
        record: From `ArchiveFile.record_at`.
    """
    wanted = record.fields.get("warc-record-id")
    if not wanted:
        return None
    following = archive.records(record.offset)
    for found in islice(following, 1, 1 + _RECORDS_READ):
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
    """Add the links that only the crawler found to a page, and count every line.

    A recorded link is not added if the page has a link of the same kind to the same target. A
    guess, or a link without an element, is not added if the page has any link to its target.
    Resolved targets are compared. The crawler does not know templates, so a ``template@href`` of
    the page counts as the ``href`` of any element. Nor does it distinguish kinds of refreshes.

    Args:
        page: Links of the page; added links come after them, without text.
        recorded: From `find_metadata`.
        base: Base of the page at its capture.
        limits: Limits for one page.
    """
    kinds: set[tuple[str, str]] = set()
    targets: set[str] = set()
    for kind, reference, _, _ in page.links:
        with suppress(UriError):
            target = base.resolve(reference)
            kinds.add((kind, target))
            targets.add(target)
    for link in parse_outlinks(recorded.read_body(_LONGEST_LIST).decode("utf-8", "replace")):
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
    """Return the kinds that a link of the page may have if the crawler recorded this kind."""
    in_template = f"template@{kind.partition('@')[2]}"
    return (kind, in_template, *_REFRESHES) if kind == _REFRESH else (kind, in_template)


def _judge(link: RecordedLink | None, base: Base) -> tuple[Reason | None, UriR]:
    """Return the reason why a line has no link (None if it has one), and the link's target."""
    if link is None:
        return Reason.LINK_INVALID, UriR("")
    if link.hop in _NO_LINKS:
        return Reason.LINK_OTHER_KIND, UriR("")
    try:
        return None, base.resolve(link.uri)
    except UriError as error:
        return error.reason, UriR("")
