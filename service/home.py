"""The page for people: a search form, what was loaded, and the views of one URI or its error."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from itertools import islice
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

import orjson
from flask import Blueprint, Response, request

from arclink.access.chronicles import Chronicle, answer_chronicle
from arclink.access.declarations import AT
from arclink.access.examples import example_pages
from arclink.access.queries import BadParameterError
from arclink.access.texts import printable, printable_uri
from arclink.analysis.charts.svg import Axis
from arclink.analysis.matrices.slices import Level
from arclink.analysis.questions.queries import WORDS
from arclink.analysis.questions.table import QuestionScope
from arclink.counts import Counts
from arclink.errors import StoreError, UsageError
from arclink.model import ALL_TIME, Surt, UriR
from arclink.pipeline.records_read import MANIFEST_FIELD
from arclink.reasons import Absence, Reason
from arclink.service.pages.answers import ASK
from arclink.service.pages.blocks import PageBlock, PageParts, given, rendered
from arclink.service.pages.browse import browse_address
from arclink.service.pages.changes import show_changes, show_texts
from arclink.service.pages.glance import show_glance, show_graph, show_places
from arclink.service.pages.links import show_anchors, show_captures, show_links
from arclink.service.pages.requests import Asked, PageHistory, View, address, part_of, plain_query
from arclink.service.pages.sites import (
    BEING_MADE,
    Beginning,
    groups_of,
    is_about_site,
    scopes_of,
    several_typed,
    show_site,
    similar_to,
    views_of,
    words_typed,
)
from arclink.service.problems import note_loss
from arclink.service.responses import lead_to
from arclink.service.stores import current_store, stores_of_app, will_change
from arclink.store.protocols import Answers, OpenStore, Scans
from arclink.uris.surts import surt_of

# What was loaded into a store, and what was left out and why, in the words of historians.
#
# Builds count every item under a reason, which says whether something is missing
# (`arclink.reasons`).

_MOST_BATCHES = 8
"""Number of batches that are listed, those loaded last."""


@dataclass(frozen=True, slots=True)
class Load:
    """One batch: archive files that were loaded together.

    Attributes:
        number: 1, 2, … in the order they were loaded.
        when: Day on which it was loaded, as ``2026-11-26``; empty if an earlier version loaded it.
        files: Names of its archive files.
        captures: Number of captures; None if what was read was not counted.
        pages: Number of payloads whose links were read; likewise.
        damaged: Number of archive files that are empty, cut short or damaged.
    """

    number: int
    when: str
    files: Sequence[str]
    captures: int | None
    pages: int | None
    damaged: int


@dataclass(frozen=True, slots=True)
class Loads:
    """All batches of a store.

    Attributes:
        shown: The batches that were loaded last, oldest first.
        total: Number of all batches.
        missing: What is missing, with the number of each reason, most frequent first.
        are_counted: Whether what is missing was counted for all batches.
        removed: Number of captures that were removed on request.
    """

    shown: Sequence[Load]
    total: int
    missing: Sequence[tuple[Absence, Sequence[tuple[Reason, int]]]]
    are_counted: bool
    removed: int


def _loads_of(store: OpenStore) -> Loads | None:
    """Return the batches of a store; None if some captures are hidden: it would tell of them.

    Raises:
        StoreError: The store cannot be read.
    """
    loads, counts = list[Load](), Counts()
    for batch in store.batches():
        manifest = orjson.loads(batch.manifest)
        if not manifest:
            return None
        named = _named(manifest.get("counts", {}))
        counts += named
        loads.append(
            Load(
                batch.number,
                manifest.get("loaded", "")[: len("2026-11-26")],
                batch.files,
                named[Reason.ROW_KEPT] if named else None,
                named[Reason.PAYLOAD_READ] if named else None,
                len(manifest.get(MANIFEST_FIELD, ())),
            )
        )
    removed = sum(numbers.mementos for _, numbers in store.forgotten())
    are_counted = all(load.captures is not None for load in loads)
    return Loads(loads[-_MOST_BATCHES:], len(loads), [*_missing(counts)], are_counted, removed)


def _named(groups: Mapping[str, Mapping[str, int]]) -> Counts:
    return Counter(
        {
            Reason[name]: count
            for named in groups.values()
            for name, count in named.items()
            if name in Reason.__members__  # a later version of ArcLink may know others
        }
    )


def _missing(counts: Counts) -> Iterator[tuple[Absence, Sequence[tuple[Reason, int]]]]:
    for absence in Absence:
        reasons = [
            (reason, counts[reason])
            for reason in Reason
            if reason.absence is absence and counts[reason]
        ]
        if reasons:
            yield absence, sorted(reasons, key=lambda one: (-one[1], one[0].text))


home = Blueprint("home", __name__)

_MOST_NEAR = 8
"""Number of other pages of the host offered if nothing is known about the requested URI."""
_EXAMPLES = 4
"""Number of pages to begin with, of a store without relations."""
_SHOW: MappingProxyType[View, Callable[[PageHistory], PageParts]] = MappingProxyType(
    {
        View.GLANCE: show_glance,
        View.LINKS: show_links,
        View.ANCHORS: show_anchors,
        View.CHANGES: show_changes,
        View.TEXT: show_texts,
        View.GRAPH: show_graph,
        View.PLACES: show_places,
        View.CAPTURES: show_captures,
    }
)


@home.get("/")
def page() -> Response:
    """Show the form; with a URI, also one view of it, or the error in the query.

    A picture or a block of the page has the address of the page with one parameter more
    (`arclink.service.pages.blocks`).
    """
    asked = Asked(View.GLANCE, ())
    parameters = given()
    try:
        if words := several_typed(parameters) or words_typed(parameters, _question_of_words):
            return lead_to(f"{request.script_root}/{words}")
        if is_about_site(parameters):
            return _site(parameters)
        asked = Asked.from_parameters(parameters) if parameters else asked
        return _view(asked, current_store()) if parameters else _start(current_store())
    except BadParameterError as error:
        return _shown(
            "wrong",
            asked,
            HTTPStatus.BAD_REQUEST,
            name=printable(error.name),
            value=printable(error.value),
            advice=error.advice,
        )
    except StoreError as error:
        response = _shown(
            "away",
            asked,
            HTTPStatus.SERVICE_UNAVAILABLE,
            again=address(asked.view, asked.given),
        )
        response.headers["Retry-After"] = str(note_loss(error))
        return response


@home.get("/search")
def search() -> Response:
    """Lead to the question that finds the words ``q``; without any, to the field for words.

    Raises:
        StoreError: The store cannot be read.
    """
    words = request.args.get("q", "").strip()
    asked = [(ASK, _question_of_words()), (WORDS.name, words)] if words else []
    return lead_to(f"{request.script_root}/{'?' if asked else ''}{urlencode(asked)}")


def _question_of_words() -> str:
    """Return the question that finds words: in the text of pages, if that was read."""
    return "search" if stores_of_app().tables.has_texts else "find"


def _start(store: Scans) -> Response:
    asked = Asked(View.GLANCE, ())
    if not store.last_batch():
        return _shown("start", asked, sums=None)
    stores = stores_of_app()
    shown, words = PageParts(()), dict[str, Any]()
    try:
        shown, of_archive = show_site((), store, stores.tables)
        words = dict(of_archive)
    except UsageError as error:  # the rest of the page needs no relations
        words["lacks"] = str(error)
    beginnings = words["beginnings"] if "beginnings" in words else stores.once(_beginnings)
    facts = {"pending": BEING_MADE} if beginnings is None else {"beginnings": beginnings}
    loads = stores.once(_loads_of)
    facts["style"] = "panel door"
    begin = PageBlock("begin", "begin", lambda: facts, "Begin here", is_narrow=True)
    loaded = PageBlock("loaded", "loads", lambda: {"loaded": loads})
    panels, captures = shown.blocks[:-1], shown.blocks[-1:]
    begins = [begin] if beginnings is None or beginnings else []
    blocks = [*panels, *begins, *captures, *([loaded] if loads else [])]
    return _shown("start", asked, blocks=blocks, sums=store.sums(), **words)


def _beginnings(store: Answers) -> list[Beginning]:
    """Return pages to begin with, of a store without relations."""
    with store.snapshot():
        pages = example_pages(store, _EXAMPLES)
    newest = f"{datetime.now(UTC):%Y%m%d}"
    return [Beginning(printable_uri(uri), browse_address(newest, uri)) for uri in pages]


def _site(parameters: Sequence[tuple[str, str]]) -> Response:
    """Show a site or the whole archive, at a glance or one question.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store cannot be read.
    """
    shown, words = show_site(parameters, current_store(), stores_of_app().tables)
    asked = Asked(View.GLANCE, ())
    return _shown("page", asked, blocks=shown.blocks, downloads=shown.downloads, **words)


def _view(asked: Asked, store: Scans) -> Response:
    """Show a view of a page, or that nothing is known about it.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store cannot be read.
    """
    query, settings = plain_query(asked), stores_of_app().settings
    with store.snapshot():  # a page combines several answers
        chronicle = answer_chronicle(store, query, settings.budget)
        history = PageHistory(asked, query, store, settings, chronicle, Axis.of(chronicle))
        shown = _SHOW[asked.view](history)
        words = {
            "uri": history.uri,
            "sentence": asked.view.asks.sentence,
        }
        if history.axis.units:
            then = _address_then(asked, query.uri, chronicle)
            views = views_of(partial(_address_of_view, asked), then, asked.view)
            return _shown(
                "page",
                asked,
                blocks=shown.blocks,
                downloads=shown.downloads,
                groups=groups_of(
                    QuestionScope.PAGE,
                    part_of(history.uri, Level.URI),
                    views=views,
                    year=(chronicle.last or "")[:4],
                ),
                scopes=scopes_of(history.uri, QuestionScope.PAGE),
                chronicle=chronicle,
                axis=history.axis,
                **words,
            )
        near = [*islice(_near(store, query.surt), _MOST_NEAR)]
    # Relations cannot be opened inside a snapshot.
    similar = similar_to(history.uri, store, stores_of_app().tables)
    if similar is None:
        will_change()
    return _shown(
        "unknown",
        asked,
        blocks=shown.blocks,  # their files, which say nothing
        near=near,
        similar=similar,
        is_loaded=store.last_batch() > 0,
        has_neighbours=bool(settings.instances),
        **words,
    )


def _address_of_view(asked: Asked, view: View) -> str:
    """Return the address of another view; ``at`` is passed on if that view has it."""
    has_time = view in (View.LINKS, View.GRAPH)
    return address(view, asked.only("uri", "url", *(("at",) if has_time else ())))


def _address_then(asked: Asked, uri: UriR, chronicle: Chronicle) -> str:
    """Return the address of the past page: at the view's time, else at its newest capture."""
    at = AT.read(asked.get("at")) if asked.get("at") else None
    newest = chronicle.captures[-1].memento.timestamp if chronicle.captures else chronicle.last
    return browse_address(at or f"{newest or ALL_TIME.last[:4]}"[:8], uri)


def _shown(
    template: str, asked: Asked, code: HTTPStatus = HTTPStatus.OK, /, **words: Any
) -> Response:
    settings = stores_of_app().settings
    written = {name: printable(value) for name, value in reversed(asked.given)}
    typed = printable(request.args.get("uri") or request.args.get("url") or "").strip()
    return rendered(
        template,
        code,
        asked=written,
        typed=typed,
        collection=settings.collection,
        archive=settings,
        **words,
    )


def _near(store: Answers, surt: Surt) -> Iterator[str]:
    """Yield known URIs of the same host, in the order of their SURTs."""
    host, bracket, _ = surt.partition(")")
    if not bracket:
        return
    for near in islice(store.surts(Surt(f"{host})")), 10 * _MOST_NEAR):
        memento = next(store.mementos(near), None)
        if memento is not None:
            yield printable_uri(memento.original)
            continue
        inlink = next(store.inlinks(near), None)
        if inlink is not None and surt_of(inlink.target) == near:
            yield printable_uri(inlink.target)
