"""Several stores in one service: each below its name; a card of each, and a search, at ``/``."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from http import HTTPStatus
from wsgiref.types import WSGIApplication

from flask import Flask, Response, jsonify, request
from werkzeug.exceptions import NotFound
from werkzeug.middleware.dispatcher import DispatcherMiddleware

from arclink.access.declarations import TEXT, Parameter
from arclink.access.queries import EVERYTHING
from arclink.access.texts import printable
from arclink.errors import StoreError
from arclink.federation.requests import Asking
from arclink.service.application import answer_below, create_app
from arclink.service.headers import register_headers, robots
from arclink.service.openapi import RESOURCES
from arclink.service.pages.cards import Search, card_of
from arclink.service.pages.html_output import rendered, site
from arclink.service.problems import register_problems
from arclink.service.request_log import expose, watch
from arclink.service.responses import ReadRequest, asked
from arclink.service.settings import Settings
from arclink.service.stores import Stores, stores_in
from arclink.service.together import Together
from arclink.store.protocols import Scans

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
    of_each = Together(by_name)

    @app.get("/")
    def list_collections() -> Response:
        typed = (_TYPED.optional(asked((_TYPED,))) or "").strip()
        search = Search(typed) if typed not in ("", EVERYTHING) else None
        return rendered(
            "collections.html",
            archive=chosen,
            root=f"{request.script_root}/",
            typed=printable(typed),
            titles={name: collection.settings.title for name, collection in by_name.items()},
            search=search,
            found=of_each(search) if search else {},
            cards={} if search else of_each(card_of),
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
