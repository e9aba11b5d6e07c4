"""One page at a time in the past: the replayed page, and the knowledge of the graph about it.

The reader chooses the time in the address. It stays the same while the reader follows links, and
each page shows its capture nearest to that time. Links to the page, and captures of its targets,
are those at that time; the links on the page, and the changes, are those of the capture shown.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any

from flask import Blueprint, Response, request

from arclink.access.answers import first_links
from arclink.access.captures import LAST_MOMENT
from arclink.access.chronicles import answer_chronicle
from arclink.access.declarations import AT
from arclink.access.differences import Change, DiffQuery, answer_diff
from arclink.access.evidence import Destination, Held, destinations_of
from arclink.access.queries import URI, Direction, LinkQuery, absolute_uri
from arclink.access.reader import Member, state_of
from arclink.access.replay import moment_of
from arclink.access.texts import counted, printable, printable_uri
from arclink.analysis.charts.svg import Axis, day_in_words
from arclink.captures.locate import capture_near
from arclink.captures.read import CapturedPage
from arclink.captures.text import TextRun, read_text
from arclink.errors import CaptureError
from arclink.model import Memento, Timestamp
from arclink.reasons import Reason
from arclink.service.archived import current_reader
from arclink.service.memento import uri_in_path
from arclink.service.pages.blocks import BLOCK, PageBlock, framing, rendered
from arclink.service.pages.requests import Asked, PageHistory, View, linked
from arclink.service.responses import lead_to
from arclink.service.stores import current_store, stores_of_app
from arclink.uris.wrapped import format_in_path

_MOST_LINKERS = 1_000
"""Maximum number of links to the page that the panel lists."""
_MOST_TARGETS = 500
"""Maximum number of links on the page whose targets are looked up."""
MOST_TEXT = 1 << 20
"""Maximum bytes of a page whose text is shown."""
_MOST_BLOCKS = 5_000
"""Maximum number of blocks of text that are shown."""
_MOST_CHANGES = 30
"""Maximum number of links that came, and of those that went, in the panel."""


@dataclass(frozen=True, slots=True)
class Said:
    """The links to the page with the same words, as the panel shows them.

    Attributes:
        kind: The kind of the first link; it matters only for links without words.
        linkers: Pages that link to it, each with its address at the same time; empty if it cannot
            be browsed.
    """

    text: str
    kind: str
    linkers: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ShownTarget:
    """A page that the page links to.

    Attributes:
        href: Empty if it cannot be browsed.
        note: What a reader should know before following the link; empty if it was captured then.
    """

    uri: str
    texts: Sequence[str]
    href: str
    note: str = ""


def browse_address(time: str, uri: str, root: str = "") -> str:
    """Return the address of a page at a time; empty if it is too long for a link.

    Without ``root``, it is relative to the service or collection.

    >>> browse_address("20100212060005", "http://example.org/a?b#c")
    'browse/20100212060005/http://example.org/a?b'
    """
    page = printable_uri(uri.partition("#")[0])  # a fragment is no part of the page
    return linked(f"{root}browse/{time}/{format_in_path(page)}")


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of a page's text.

    Attributes:
        href: Where its link leads, at the reader's time; empty without a link.
    """

    text: str
    href: str


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a capture.

    Attributes:
        blocks: Kind (``h1`` to ``h6``, ``item``, ``pre``, ``text``) and pieces of each block.
        is_cut: Whether the page is longer.
    """

    blocks: Sequence[tuple[str, Sequence[Run]]]
    is_cut: bool


def _is_http(uri: str) -> bool:
    """Return whether a page can be browsed."""
    return uri.startswith(("http:", "https:"))


@dataclass(frozen=True, slots=True)
class _PastPage:
    """A page at a time.

    Attributes:
        page: What is known about it.
        query: The query for its links, with the reader's time.
        at: That time.
        shown: The capture nearest to it; None if the page was never captured.
        root: Path of the service or collection, ending in ``/``.
    """

    page: PageHistory
    query: LinkQuery
    at: Timestamp
    shown: Memento | None
    root: str

    @property
    def times(self) -> list[Timestamp]:
        """The times of all captures of the page, distinct."""
        return sorted({*self.page.times})

    @property
    def before(self) -> Timestamp | None:
        """The time of the capture before the one shown; None if that is the first."""
        here = None if self.shown is None else self.shown.timestamp
        return max((time for time in self.times if here and time < here), default=None)

    def response(self, alone: str) -> Response:
        """Return the page, or one block of it.

        Raises:
            NotFound: There is no such block.
            StoreError: The store cannot be read.
        """
        axis, settings, times, at = self.page.axis, self.page.settings, self.times, self.at
        shown, before, stops = self.shown, self.before, _stops_of(times)
        here = None if shown is None else shown.timestamp
        later = min((time for time in times if here and time > here), default=None)

        def address(time: str) -> str:
            return browse_address(time, self.query.uri, self.root)

        return rendered(
            "browse",
            blocks=[
                PageBlock("replayed", "replayed", self.replayed),
                PageBlock("linkers", "linkers", self.linkers, "Who linked here then", True),
                PageBlock("targets", "targets", self.targets, "Its own links", True),
                PageBlock("changed", "changed", self.changed, "What changed", True),
            ],
            alone=alone,
            uri=self.page.uri,
            typed=self.page.uri,
            collection=settings.collection,
            axis=axis,
            root=self.root,
            replay_collection=settings.collection or "-",
            at=at,
            shown=shown,
            status="" if shown is None else printable(shown.status),
            distance="" if here is None else _distance_in_words(here, at),
            marks=self.page.marks(
                lambda time: address(stops.get(Timestamp(time), time).replace("-", ""))
            ),
            now=axis.x_of(here) if here is not None and axis.units else None,
            chosen=axis.x_of(at) if axis.units and _is_on(axis, at) else None,
            earlier=address(stops[before]) if before else None,
            later=address(stops[later]) if later else None,
            number=times.index(here) + 1 if here in times else 1,
            captures=len(times),
        )

    def href(self, uri: str) -> str:
        """Return the address of another page at the reader's time; empty if it has none."""
        return browse_address(self.at, uri, self.root) if _is_http(uri) else ""

    def replayed(self) -> Mapping[str, Any]:
        """Return the text of the page, and where it is replayed."""
        settings = self.page.settings
        origin = settings.browse.of_replay(request.host)
        has_page = self.shown is not None and settings.has_pages
        facts = {
            "origin": origin,
            "can_replay": bool(origin) and has_page and _is_http(self.query.uri),
        }
        if self.shown is None or not has_page:
            return facts
        try:
            with current_reader().read(self.shown) as page:
                return {**facts, "text": self.text_of(page)}
        except CaptureError as error:
            return {**facts, "why_no_text": why_no_text(error)}

    def text_of(self, page: CapturedPage) -> Text:
        """Return the text of a capture, with links that stay in time.

        Raises:
            CaptureError: It has no text, or cannot be read.
        """
        read = read_text(page, MOST_TEXT)

        def run(one: TextRun) -> Run:
            text = "\n".join(map(printable, one.text.split("\n")))
            return Run(text, self.href(one.target) if one.target else "")

        blocks = [(block.kind, [run(one) for one in block.runs]) for block in read.blocks]
        return Text(blocks[:_MOST_BLOCKS], read.is_cut or len(blocks) > _MOST_BLOCKS)

    def linkers(self) -> Mapping[str, Any]:
        """Return the links from other hosts, which say most, and those from the page's own host."""
        of_linkers = replace(self.query, direction=Direction.IN, limit=_MOST_LINKERS)
        inlinks, has_more = first_links(self.page.store, of_linkers, self.page.settings.budget)
        host = self.query.surt.partition(")")[0]
        here, others = list[Member](), list[Member]()
        for member in inlinks:
            (here if member.surt.partition(")")[0] == host else others).append(member)
        total = len(others) + len(here)
        return {
            "style": "panel",
            "tint": "in",
            "small": f"{total:,}{' and more' if has_more else ''}" if total else "",
            "linkers": self.by_words(others),
            "linkers_here": self.by_words(here),
            "inlinks": total,
            "inlinks_here": len(here),
            "has_more_linkers": has_more,
        }

    def by_words(self, members: Iterable[Member]) -> list[Said]:
        """Return the links by their words, in the order in which these are first seen.

        Images without words are one group, and other links without words another.
        """
        groups: dict[tuple[str, bool], list[Member]] = {}
        for one in members:
            is_image = not one.text and one.kind == "img@src"
            groups.setdefault((one.text, is_image), []).append(one)
        return [
            Said(
                printable(text),
                printable(same[0].kind),
                [
                    (printable_uri(uri), self.href(uri))
                    for uri in dict.fromkeys(one.uri for one in same)
                ],
            )
            for (text, _), same in groups.items()
        ]

    def targets(self) -> Mapping[str, Any]:
        """Return the links on the page, by whether their targets were captured then."""
        facts, shown, store = {"style": "panel", "tint": "out"}, self.shown, self.page.store
        if shown is None:
            return facts
        of_targets = replace(
            self.query, direction=Direction.OUT, at=shown.timestamp, limit=_MOST_TARGETS
        )
        outlinks, has_more = first_links(store, of_targets, self.page.settings.budget)
        targets, parts = ({held.name: list[ShownTarget]() for held in Held} for _ in range(2))
        for one in destinations_of(store, outlinks, self.at):
            (parts if one.is_resource else targets)[one.held.name].append(self.target(one))
        return {
            **facts,
            "state": state_of(store, shown, store.content_of(shown)),
            "targets": targets,
            "parts_of": parts,
            "has_more_targets": has_more,
        }

    def target(self, destination: Destination) -> ShownTarget:
        """Return a target as shown."""
        status = "" if destination.capture is None else destination.capture.status
        note = ""
        if destination.held is Held.LATER and destination.first is not None:
            first = destination.first
            note = f"first captured {first[:4]}-{first[4:6]}-{first[6:8]}"
        elif status[:1] in ("4", "5"):
            note = f"answered {status}"
        return ShownTarget(
            printable_uri(destination.uri),
            [printable(text) for text in destination.texts],
            browse_address(self.at, destination.uri, self.root),
            printable(note),
        )

    def changed(self) -> Mapping[str, Any]:
        """Return the links that appeared and disappeared since the capture before."""
        before, shown = self.before, self.shown
        if before is None or shown is None:
            return {"style": "panel"}
        links = replace(self.query, at=None, direction=Direction.OUT)
        compared = DiffQuery(links, first=before, last=shown.timestamp, limit=_MOST_CHANGES)
        answer = answer_diff(self.page.store, compared, self.page.settings.budget)

        def listed(change: Change) -> list[ShownTarget]:
            keys = [link.key[:3] for link in answer.links[change]]
            return [
                ShownTarget(printable_uri(uri), [printable(text)] if text else [], self.href(uri))
                for uri, _, text in keys
            ]

        return {
            "style": "panel",
            "small": f"since {day_in_words(before)}",
            "before": before,
            "changes": {change.name: listed(change) for change in (Change.ADDED, Change.REMOVED)},
            "totals": {change.name: answer.total(change) for change in Change},
        }


def _is_on(axis: Axis, at: Timestamp) -> bool:
    try:
        return axis.start <= moment_of(at) <= axis.end
    except ValueError:  # a time such as 99999999999999 is a limit, no date
        return False


def _stops_of(times: Sequence[Timestamp]) -> dict[str, Timestamp]:
    """Return the reader's time for each capture: the end of its day, if that leads to it.

    A crawl reads the pages that link to each other within hours. At the end of the day, they all
    are part of the past; at the second of one capture, those read after it would not be.

    Args:
        times: Times of all captures of a page, distinct, sorted.

    >>> _stops_of([Timestamp("20100212060005"), Timestamp("20100213010000")])
    {'20100212060005': '20100212060005', '20100213010000': '20100213235959'}
    """
    stops: dict[str, Timestamp] = {}
    for time, following in zip_longest(times, times[1:]):
        end = Timestamp(f"{time[:8]}235959")
        is_nearest = following is None or (
            following > end
            and moment_of(following) - moment_of(end) >= moment_of(end) - moment_of(time)
        )
        stops[time] = end if is_nearest else time
    return stops


def _distance_in_words(captured: Timestamp, at: Timestamp) -> str:
    """Return how far a capture is from the reader's time; empty within a day.

    >>> _distance_in_words(Timestamp("20100101000000"), Timestamp("20100212060005"))
    '42 days earlier'
    """
    try:
        distance = moment_of(captured) - moment_of(at)
    except ValueError:
        return ""
    days = abs(distance).days
    if days == 0:
        return ""
    way = "earlier" if captured < at else "later"
    if days < 365:
        return f"{counted(days, 'day')} {way}"
    years = round(days / 365.25, 1)
    return f"{years:g} year{'' if years == 1 else 's'} {way}"


def why_no_text(error: CaptureError) -> str:
    """Return why a capture has no text, without the paths that only an operator needs."""
    if error.reason is Reason.MEMENTO_MIME:
        return "This capture is no text."
    return "This capture cannot be read: its archive file is missing or damaged."


browsing = Blueprint("browsing", __name__)


@browsing.get("/browse/")
def find() -> Response:
    """Lead from the form to the page that it asks for; without a time, to the newest capture.

    A block of the page has this address, too, with ``at`` and ``block``: what is after the address
    of an archived page belongs to that one.
    """
    uri = request.args.get("uri", "").strip()
    if not uri:
        return lead_to(f"{request.script_root}/")
    at = request.args.get("at", "").strip()
    if at:
        query = _query(at, uri)
        if block := request.args.get(BLOCK):
            return _shown(query, block)
        return _lead_to(query.at or at, query.uri)
    newest = capture_near(current_store(), uri, LAST_MOMENT)
    if newest is not None:
        return _lead_to(newest.timestamp[:8], newest.original)
    return _lead_to(f"{datetime.now(UTC):%Y%m%d%H%M%S}", absolute_uri(uri))


@browsing.get("/browse/<time>/<rest:rest>")
def page_then(time: str, rest: str) -> Response:
    """Show a page at a time: its nearest capture, replayed, with the data of the graph around it.

    Errors are answered as everywhere in the service, for browsers with a page.
    """
    query = _query(time, uri_in_path(request, f"/browse/{time}/", rest))
    assert query.at is not None
    if query.at != time:
        return _lead_to(query.at, query.uri)
    return _shown(query)


def _query(time: str, uri: str) -> LinkQuery:
    return LinkQuery.from_parameters([(URI.name, uri), (AT.name, time)])


def _shown(query: LinkQuery, alone: str = "") -> Response:
    settings, store, at = stores_of_app().settings, current_store(), query.at
    assert at is not None
    always = replace(query, at=None)
    with store.snapshot():  # a page combines several answers
        chronicle = answer_chronicle(store, always, settings.budget)
        asked, axis = Asked(View.GLANCE, ()), Axis.of(chronicle)
        page = PageHistory(asked, always, store, settings, chronicle, axis)
        shown = capture_near(store, query.uri, at)
        response = _PastPage(page, query, at, shown, f"{request.script_root}/").response(alone)
    origin = settings.browse.of_replay(request.host)
    return framing(response, origin) if origin else response


def _lead_to(time: str, uri: str) -> Response:
    """Return a redirect to a page at a time; if clients would refuse its address, the page."""
    address = browse_address(time, uri, f"{request.script_root}/")
    return lead_to(address) if address else _shown(_query(time, uri))
