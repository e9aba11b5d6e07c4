"""One page at a time in the past: the replayed page, and the knowledge of the graph about it.

The reader chooses the time in the address. It stays the same while the reader follows links, and
each page shows its capture nearest to that time. Links to the page, and captures of its targets,
are those at that time; the links on the page, and the changes, are those of the capture shown.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import zip_longest
from typing import NamedTuple

from flask import Blueprint, Response, request

from arclink.access.answers import first_links
from arclink.access.captures import LAST_MOMENT
from arclink.access.chronicles import Chronicle, answer_chronicle
from arclink.access.declarations import AT
from arclink.access.differences import Change, ChangedLink, DiffQuery, answer_diff
from arclink.access.evidence import Destination, Held, destinations_of
from arclink.access.queries import URI, Direction, LinkQuery, absolute_uri
from arclink.access.reader import Member, State, state_of
from arclink.access.texts import counted, printable, printable_uri
from arclink.access.timemaps import moment_of
from arclink.analysis.charts.svg import Axis
from arclink.captures.locate import capture_near
from arclink.captures.read import CapturedPage
from arclink.captures.text import TextRun, read_text
from arclink.errors import CaptureError
from arclink.model import Memento, Timestamp, UriR
from arclink.reasons import Reason
from arclink.service.archived import current_reader
from arclink.service.memento import uri_in_path
from arclink.service.pages.html_output import framing, rendered
from arclink.service.pages.requests import linked
from arclink.service.responses import lead_to
from arclink.service.settings import Settings
from arclink.service.stores import current_store, stores_of_app
from arclink.store.protocols import Answers
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


class Linker(NamedTuple):
    """A page that links to the page.

    Attributes:
        href: Address of the page, at the same time; None if it cannot be browsed.
    """

    uri: str
    href: str | None


@dataclass(frozen=True, slots=True)
class Said:
    """The links to the page with the same words, as the panel shows them.

    Attributes:
        kind: The kind of the first link; it matters only for links without words.
    """

    text: str
    kind: str
    linkers: Sequence[Linker]


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
    note: str


def browse_address(time: str, uri: str, root: str = "") -> str:
    """Return the address of a page at a time; empty if it is too long for a link.

    Without ``root``, it is relative to the service or collection.

    >>> browse_address("20100212060005", "http://example.org/a?b#c")
    'browse/20100212060005/http://example.org/a?b'
    """
    page = printable_uri(uri.partition("#")[0])  # a fragment is no part of the page
    return linked(f"{root}browse/{time}/{format_in_path(page)}")


def _show_page_then(
    store: Answers,
    query: LinkQuery,
    shown: Memento | None,
    settings: Settings,
    chronicle: Chronicle,
    axis: Axis,
    root: str,
) -> dict[str, object]:
    """Return the template's data for a page at a time.

    Args:
        store: The store.
        query: The URI, and the reader's time as ``at``.
        shown: The capture nearest to that time; None if the page was never captured.
        settings: Settings of the service.
        chronicle: The history of the page.
        axis: Its axis of time.
        root: Path of the service or collection, ending in ``/``.

    Raises:
        StoreError: The store cannot be read.
    """
    at = query.at
    assert at is not None
    times = sorted({captured.memento.timestamp for captured in chronicle.captures})
    here = None if shown is None else shown.timestamp
    earlier = [time for time in times if here is not None and time < here]
    later = [time for time in times if here is not None and time > here]
    of_linkers = replace(query, direction=Direction.IN, limit=_MOST_LINKERS)
    inlinks, has_more_linkers = first_links(store, of_linkers, settings.budget)

    def address(time: str) -> str:
        return browse_address(time, query.uri, root)

    stops = _stops_of(times)
    return {
        "at": at,
        "shown": shown,
        "state": None if shown is None else _state(store, shown),
        "status": "" if shown is None else printable(shown.status),
        "mime": "" if shown is None else printable(shown.mime),
        "distance": "" if here is None else _distance_in_words(here, at),
        "marks": [
            (mark, address(stops.get(mark.at, mark.at).replace("-", "")))
            for mark in axis.marks(chronicle.captures)
        ],
        "now": axis.x_of(here) if here is not None and axis.units else None,
        "chosen": axis.x_of(at) if axis.units and _is_on(axis, at) else None,
        "earlier": address(stops[earlier[-1]]) if earlier else None,
        "later": address(stops[later[0]]) if later else None,
        "number": len(earlier) + 1,
        "captures": len(times),
        **_linkers(query, inlinks, at, root),
        "has_more_linkers": has_more_linkers,
        **_own_links(store, query, here, settings, root),
        **_changes(store, query, earlier[-1] if earlier else None, here, settings, root),
    }


def _state(store: Answers, memento: Memento) -> State:
    return state_of(store, memento, store.content_of(memento))


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


def _linkers(
    query: LinkQuery, inlinks: Iterable[Member], at: Timestamp, root: str
) -> dict[str, object]:
    """Return the links from other hosts, which say most, and those from the page's own host."""
    host = query.surt.partition(")")[0]
    from_here: list[Member] = []
    from_others: list[Member] = []
    for member in inlinks:
        (from_here if member.surt.partition(")")[0] == host else from_others).append(member)
    return {
        "linkers": _by_words(from_others, at, root),
        "linkers_here": _by_words(from_here, at, root),
        "inlinks": len(from_others) + len(from_here),
        "inlinks_here": len(from_here),
    }


def _by_words(members: Iterable[Member], at: Timestamp, root: str) -> list[Said]:
    """Return the links by their words, in the order in which these are first seen.

    Images without words are one group, and other links without words another.
    """
    groups: dict[tuple[str, bool], list[Member]] = {}
    for member in members:
        groups.setdefault((member.text, not member.text and member.kind == "img@src"), []).append(
            member
        )
    return [
        Said(
            printable(text),
            printable(same[0].kind),
            [_linker(UriR(uri), at, root) for uri in dict.fromkeys(one.uri for one in same)],
        )
        for (text, _), same in groups.items()
    ]


def _linker(uri: UriR, at: Timestamp, root: str) -> Linker:
    can_be_browsed = uri.startswith(("http:", "https:"))
    return Linker(printable_uri(uri), browse_address(at, uri, root) if can_be_browsed else None)


def _own_links(
    store: Answers, query: LinkQuery, here: Timestamp | None, settings: Settings, root: str
) -> dict[str, object]:
    at = query.at
    assert at is not None
    if here is None:
        return {"targets": {}, "parts_of": {}, "has_more_targets": False}
    of_targets = replace(query, direction=Direction.OUT, at=here, limit=_MOST_TARGETS)
    outlinks, has_more_targets = first_links(store, of_targets, settings.budget)
    destinations = destinations_of(store, outlinks, at)
    targets, parts = ({held.name: list[ShownTarget]() for held in Held} for _ in range(2))
    for one in destinations:
        (parts if one.is_resource else targets)[one.held.name].append(_target(one, at, root))
    return {"targets": targets, "parts_of": parts, "has_more_targets": has_more_targets}


def _target(destination: Destination, at: Timestamp, root: str) -> ShownTarget:
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
        browse_address(at, destination.uri, root),
        printable(note),
    )


def _changes(
    store: Answers,
    query: LinkQuery,
    before: Timestamp | None,
    here: Timestamp | None,
    settings: Settings,
    root: str,
) -> dict[str, object]:
    if before is None or here is None:
        return {"changes": None, "before": before}
    links = replace(query, at=None, direction=Direction.OUT)
    compared = DiffQuery(links, first=before, last=here, limit=_MOST_CHANGES)
    answer = answer_diff(store, compared, settings.budget)
    at = query.at or here

    def listed(change: Change) -> list[ShownTarget]:
        return [_changed(link, at, root) for link in answer.links[change]]

    return {
        "before": before,
        "changes": {change.name: listed(change) for change in (Change.ADDED, Change.REMOVED)},
        "totals": {
            change.name: sum(of_direction[change] for of_direction in answer.totals.values())
            for change in Change
        },
    }


def _changed(link: ChangedLink, at: Timestamp, root: str) -> ShownTarget:
    uri, _, text, _ = link.key
    texts = [printable(text)] if text else []
    can_be_browsed = uri.startswith(("http:", "https:"))
    return ShownTarget(
        printable_uri(uri), texts, browse_address(at, uri, root) if can_be_browsed else "", ""
    )


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of a page's text; ``href`` is where its link leads, at the reader's time."""

    text: str
    href: str | None


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a capture.

    Attributes:
        blocks: Kind (``h1`` to ``h6``, ``item``, ``pre``, ``text``) and pieces of each block.
        is_cut: Whether the page is longer.
    """

    blocks: Sequence[tuple[str, Sequence[Run]]]
    is_cut: bool


def _text_then(page: CapturedPage, at: Timestamp, root: str) -> Text:
    """Return the text of a capture, with links that stay in time.

    Raises:
        CaptureError: It has no text, or cannot be read.
    """
    read = read_text(page, MOST_TEXT)

    def run(one: TextRun) -> Run:
        is_link = one.target is not None and one.target.startswith(("http:", "https:"))
        href = browse_address(at, one.target, root) if is_link and one.target else None
        return Run("\n".join(map(printable, one.text.split("\n"))), href)

    blocks = [(block.kind, [run(one) for one in block.runs]) for block in read.blocks]
    return Text(blocks[:_MOST_BLOCKS], read.is_cut or len(blocks) > _MOST_BLOCKS)


def why_no_text(error: CaptureError) -> str:
    """Return why a capture has no text, without the paths that only an operator needs."""
    if error.reason is Reason.MEMENTO_MIME:
        return "This capture is no text."
    return "This capture cannot be read: its archive file is missing or damaged."


browsing = Blueprint("browsing", __name__)


@browsing.get("/browse/")
def find() -> Response:
    """Lead from the form to the page that it asks for; without a time, to the newest capture."""
    uri = request.args.get("uri", "").strip()
    if not uri:
        return lead_to(f"{request.script_root}/")
    at = request.args.get("at", "").strip()
    if at:
        query = _query(at, uri)
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


def _shown(query: LinkQuery) -> Response:
    stores = stores_of_app()
    settings, store = stores.settings, current_store()
    assert query.at is not None
    with store.snapshot():  # a page combines several answers
        shown = capture_near(store, query.uri, query.at)
        chronicle = answer_chronicle(store, replace(query, at=None), settings.budget)
        axis = Axis.of(chronicle)
        root = f"{request.script_root}/"
        origin = settings.browse.of_replay(request.host)
        response = rendered(
            "browse.html",
            uri=printable_uri(query.uri),
            asked={},
            typed=printable_uri(query.uri),
            collection=settings.collection,
            chronicle=chronicle,
            axis=axis,
            root=root,
            origin=origin,
            replay_collection=settings.collection or "-",
            can_replay=bool(origin)
            and settings.has_pages
            and shown is not None
            and query.uri.startswith(("http:", "https:")),
            **_text(shown, query.at, root),
            **_show_page_then(store, query, shown, settings, chronicle, axis, root),
        )
    return framing(response, origin) if origin else response


def _text(shown: Memento | None, at: Timestamp, root: str) -> Mapping[str, Text | str | None]:
    """Return the text of a capture; if it cannot be read, why."""
    if shown is None or not stores_of_app().settings.has_pages:
        return {"text": None, "why_no_text": None}
    try:
        with current_reader().read(shown) as page:
            return {"text": _text_then(page, at, root), "why_no_text": None}
    except CaptureError as error:
        return {"text": None, "why_no_text": why_no_text(error)}


def _lead_to(time: str, uri: str) -> Response:
    """Return a redirect to a page at a time; if clients would refuse its address, the page."""
    address = browse_address(time, uri)
    return _moved(address) if address else _shown(_query(time, uri))


def _moved(address: str) -> Response:
    return lead_to(f"{request.script_root}/{address}")
