"""Several stores in one service: each below its name; a card of each, and a search, at ``/``."""

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final, TypeVar
from wsgiref.types import WSGIApplication

from flask import Flask, Response, copy_current_request_context, jsonify, request
from werkzeug.exceptions import NotFound
from werkzeug.middleware.dispatcher import DispatcherMiddleware

from arclink.access.chronicles import answer_chronicle
from arclink.access.declarations import TEXT, BadParameterError, Parameter, sort_out
from arclink.access.queries import EVERYTHING, LinkQuery
from arclink.access.texts import printable, printable_uri
from arclink.analysis.charts.svg import Axis, Bar
from arclink.analysis.questions.queries import ASK_PARAMETERS, AskQuery
from arclink.errors import StoreError, UsageError
from arclink.known import known_in
from arclink.model import Timestamp
from arclink.others.federation.requests import Asking
from arclink.service.application import answer_below, create_app
from arclink.service.openapi import RESOURCES
from arclink.service.pages.answers import captures_over
from arclink.service.pages.blocks import rendered, site
from arclink.service.pages.requests import about
from arclink.service.pages.sites import is_about_site, several_typed, short_query, words_typed
from arclink.service.problems import register_problems
from arclink.service.request_log import expose, watch
from arclink.service.responses import ReadRequest, asked, register_headers, robots
from arclink.service.settings import Settings
from arclink.service.stores import Stores, stores_in
from arclink.service.tables import NotReadyError, limit_in_words
from arclink.store.protocols import Scans, StoreSums

_MOST_COUNTED = 5_000
"""Largest number of links to a page that are counted in one collection."""

_MOST_PAGES = 3
"""Number of pages of each collection that are shown of those with the words."""

LATER = "The answer takes longer than this page waits. It is made when you open it."
_NO_TABLES = "Its tables are not made yet. They are made when you open it."


@dataclass(frozen=True, slots=True)
class Card:
    """What a collection is.

    Attributes:
        description: Empty without a description.
        sums: Totals of its store.
        captures: Number of captures; None if it is not known.
        are_distinct: Whether a capture that several batches have counts once.
        hosts: Number of hosts with captures; None if it is not known.
        axis: The axis of its captures; None if their times are not known.
        bars: Its captures on the axis.
        gaps: Times without captures.
        note: What is not known, and why; empty if everything is.
    """

    description: str
    sums: StoreSums
    captures: int | None = None
    are_distinct: bool = True
    hosts: int | None = None
    axis: Axis | None = None
    bars: Sequence[Bar] = ()
    gaps: Sequence[Bar] = ()
    note: str = ""

    @property
    def first(self) -> Timestamp | None:
        """The time of the first capture; None without captures."""
        return _time(self.sums.first)

    @property
    def last(self) -> Timestamp | None:
        """The time of the last capture; None without captures."""
        return _time(self.sums.last)


def _time(text: str) -> Timestamp | None:
    return Timestamp(text) if text.isdigit() else None


def _card_of(stores: Stores) -> Card:
    """Return the card of a collection; this makes no relations.

    Raises:
        StoreError: Its store cannot be read.
    """
    store = stores.current()
    card = Card(stores.settings.description, store.sums())
    if card.first is None or card.last is None:
        return replace(card, captures=0, hosts=0)
    captures = hosts = None
    try:
        note = "" if stores.tables.are_made(store) else _NO_TABLES
        if not note:
            everything = sort_out((), ASK_PARAMETERS)
            queries = [short_query(everything, name) for name in ("captures", "hosts")]
            captures, hosts = stores.tables.answers(store, queries)
            note = "" if captures and hosts else LATER
    except (NotReadyError, UsageError) as error:
        note = f"{error}."
    days = captures.known.by_day if captures else store.days()
    axis, bars, gaps = captures_over(card.first, card.last, days) if days else (None, (), ())
    return replace(
        card,
        captures=(known_in(days.values()) if days else store.known()).captures,
        are_distinct=days is not None or card.sums.batches == 1,
        hosts=None if hosts is None else hosts.total,
        axis=axis,
        bars=bars,
        gaps=gaps,
        note=note,
    )


@dataclass(frozen=True, slots=True)
class Found:
    """What a collection knows about an address or words.

    Attributes:
        captures: Number of captures; None if it is not known.
        links: Number of links to a page, of linking hosts of a site, or of pages with the words;
            None if it is not known.
        are_all: Whether there are no more of them.
        first: Time of the first capture.
        last: Time of the last capture.
        pages: The first pages with the words: address of the page about it, title and URI.
        note: What is not known, and why; empty if everything is.
    """

    captures: int | None = None
    links: int | None = None
    are_all: bool = True
    first: Timestamp | None = None
    last: Timestamp | None = None
    pages: Sequence[tuple[str, str, str]] = ()
    note: str = ""


class _Search:
    """A search in several collections, for an address or words as people write them.

    Args:
        text: An address of a page or a site, or words.

    Attributes:
        text: The same.
        href: Address of the page of a collection that has the answer, relative to the collection.
        column: Name of the numbers of `Found.links`.
        is_of_words: Whether it is for words.

    Raises:
        BadParameterError: The text is neither an address nor words.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        given = [("uri", text)]
        self._page: LinkQuery | None = None
        self._questions: Sequence[AskQuery] = ()
        if several_typed(given):
            raise BadParameterError("uri", text, "one address, or words")
        words = words_typed(given)
        self.is_of_words = bool(words)
        if words:
            find = AskQuery.of(sort_out([("words", text)], ASK_PARAMETERS), name="find")
            self.href, self.column = words, "Pages"
            self._questions = [replace(find, limit=_MOST_PAGES)]
        elif is_about_site(given):
            site = sort_out(given, ASK_PARAMETERS)
            self.href, self.column = about(text), "Hosts that link to it"
            self._questions = [short_query(site, name) for name in ("captures", "linkers")]
        else:
            self._page = LinkQuery.from_parameters(given)
            self.href, self.column = about(text), "Links to it"

    def __call__(self, stores: Stores) -> Found:
        """Return the knowledge of a collection; this makes no relations.

        Raises:
            StoreError: Its store cannot be read.
        """
        store = stores.current()
        if not store.last_batch():
            return Found(note="It is empty: no archive file has been loaded yet.")
        if self._page is not None:
            return _page_in(stores, self._page)
        try:
            if not stores.tables.are_made(store):
                return Found(note=_NO_TABLES)
            answers = stores.tables.answers(store, self._questions)
        except (NotReadyError, UsageError) as error:
            return Found(note=f"{error}.")
        for query, answer in zip(self._questions, answers, strict=True):
            if answer is None:
                over = stores.tables.over_limit(store, query)
                return Found(note=limit_in_words(over) if over else LATER)
            if answer.unknown and query.name != "captures":
                return Found(note=f"{answer.unknown[0].upper()}{answer.unknown[1:]}.")
        found = [answer for answer in answers if answer is not None]
        if self.is_of_words:
            (pages,) = found
            return Found(
                links=pages.total,
                pages=[
                    (about(row["name"]), row["title"] or "", printable_uri(row["name"]))
                    for row in pages.table.to_pylist()
                ],
            )
        known = found[0].known
        return Found(known.captures, found[1].total, first=known.first, last=known.last)


def _page_in(stores: Stores, query: LinkQuery) -> Found:
    """Return the knowledge of a store about a page, in the numbers of the page about it."""
    budget = replace(
        stores.settings.budget, counted=min(stores.settings.budget.counted, _MOST_COUNTED)
    )
    known = answer_chronicle(stores.current(), query, budget)
    return Found(
        known.mementos.count,
        known.total,
        known.extent.is_complete,
        known.mementos.first,
        known.mementos.last,
    )


# The same work on the stores of several collections, at the same time and up to a time.
#
# A collection that is slow or cannot be read affects only its own part of the answer.

T = TypeVar("T")

_SECONDS: Final = 3.0
"""Seconds after which a page no longer waits for a collection."""

_THREADS: Final = 2
"""Number of threads per collection; each keeps its store open."""

_log = logging.getLogger("arclink.service")


class _Together:
    """Threads for the stores of several collections.

    Args:
        stores: By name of the collection.
    """

    def __init__(self, stores: Mapping[str, Stores]) -> None:
        self._stores = stores
        self._threads = {name: ThreadPoolExecutor(_THREADS, name) for name in stores}

    def __call__(self, work: Callable[[Stores], T]) -> Mapping[str, tuple[T | None, str]]:
        """Return, by collection, the result of ``work``, or in words why it is missing.

        Args:
            work: A function of this request.
        """
        futures = {
            name: self._threads[name].submit(copy_current_request_context(_guarded), work, stores)
            for name, stores in self._stores.items()
        }
        wait(futures.values(), _SECONDS)
        return {name: _result(future) for name, future in futures.items()}


def _guarded(work: Callable[[Stores], T], stores: Stores) -> tuple[T | None, str]:
    try:
        return work(stores), ""
    except StoreError as error:
        _log.error("the store of %s cannot be read: %s", stores.settings.collection, error)
        stores.forget()
        return None, "cannot be read at the moment"


def _result(future: "Future[tuple[T | None, str]]") -> tuple[T | None, str]:
    if future.done():
        return future.result()
    future.cancel()  # if it still waits for others
    return None, f"did not answer within {_SECONDS:g} seconds"


_OF_EACH = ", ".join(
    sorted({f'"{one.path.split("/")[1]}"' for one in RESOURCES} - {'""', '"health"', '"metrics"'})
)
"""First parts of the paths of resources that each collection has."""

_TYPED = Parameter(
    "uri", "The address of a page or a site, or words, to look up in all collections.", TEXT
)


def create_collections(
    stores: Mapping[str, str | Callable[[], Scans]], settings: Settings | None = None
) -> Flask:
    """Return an application with each of ``stores`` below ``/NAME/``.

    Answers merged from several archives call each store by that name.

    Args:
        stores: Path or URL of each store, or a function that opens it, by name (lower-case letters,
            digits, ``-`` and ``_``), in the order of the list.
        settings: Settings of each collection.
    """
    chosen = settings or Settings()
    asking = Asking(chosen.instances, chosen.limits)
    app = Flask("arclink.service")
    app.request_class = ReadRequest
    register_headers(app, chosen.origins)
    register_problems(app, chosen.hosts)
    watch(app, "")
    app.register_blueprint(site)
    below = {
        name: create_app(where, _settings_of(name, chosen), asking)
        for name, where in stores.items()
    }
    by_name = {name: stores_in(of_collection) for name, of_collection in below.items()}
    of_each = _Together(by_name)

    @app.get("/")
    def list_collections() -> Response:
        typed = (_TYPED.optional(asked((_TYPED,))) or "").strip()
        search = _Search(typed) if typed not in ("", EVERYTHING) else None
        return rendered(
            "collections",
            archive=chosen,
            root=f"{request.script_root}/",
            typed=printable(typed),
            titles={name: collection.settings.title for name, collection in by_name.items()},
            search=search,
            found=of_each(search) if search else {},
            cards={} if search else of_each(_card_of),
        )

    @app.get("/robots.txt")
    def robots_txt() -> Response:
        return Response(
            robots(request.script_root, by_name), content_type="text/plain; charset=utf-8"
        )

    @app.get("/health")
    def check() -> Response:
        batches = {name: _batches(collection) for name, collection in by_name.items()}
        is_well = None not in batches.values()
        response = jsonify(status="ok" if is_well else "away", collections=batches)
        if not is_well:
            response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
            response.headers["Retry-After"] = str(chosen.retry_after)
        return response

    @app.get("/metrics")
    def metrics() -> Response:
        return expose(by_name)

    @app.get(f"/<any({_OF_EACH}):first>", strict_slashes=False)
    @app.get(f"/<any({_OF_EACH}):first>/<path:rest>")
    def say_where(first: str, rest: str = "") -> Response:
        resource = f"{first}/{rest}" if first == "LinkService" else first
        resources = ", ".join(f"{request.script_root}/{name}/{resource}" for name in by_name)
        raise NotFound(f"Each collection has its own resources; query one of {resources}.")

    mounted: dict[str, WSGIApplication] = {
        f"/{name}": of_collection.wsgi_app for name, of_collection in below.items()
    }
    app.wsgi_app = DispatcherMiddleware(app.wsgi_app, mounted)  # type: ignore[method-assign]  # as Flask documents it
    answer_below(app, chosen.public, by_name)
    return app


def _settings_of(name: str, settings: Settings) -> Settings:
    """Return the settings of one collection."""
    return replace(
        settings,
        collection=name,
        archive=name,
        title=settings.titles.get(name, ""),
        description=settings.descriptions.get(name, ""),
    )


def _batches(stores: Stores) -> int | None:
    """Return the number of batches in a collection's store; None if it cannot be read."""
    try:
        return sum(1 for _ in stores.current().batches())
    except StoreError:
        stores.forget()
        return None
