"""The Flask application of one store: resources, errors, and the parts common to all responses."""

from collections.abc import Callable, Iterable

from flask import Flask, request
from werkzeug.exceptions import RequestURITooLarge

from arclink.others.federation.requests import Asking
from arclink.service.archived import archived, streaming, taking_away
from arclink.service.description import describing
from arclink.service.home import home
from arclink.service.memento import memento
from arclink.service.pages.blocks import site
from arclink.service.pages.browse import browsing
from arclink.service.problems import register_problems
from arclink.service.query_resources import aggregating, queries, questions
from arclink.service.request_log import watch, watching
from arclink.service.responses import ReadRequest, refuse_parts, register_headers
from arclink.service.selecting import selecting, subsets
from arclink.service.settings import BelowPath, Settings, public_path
from arclink.service.stores import Stores, attach_stores, register_validators
from arclink.store.protocols import Scans


def create_app(
    store: str | Callable[[], Scans],
    settings: Settings | None = None,
    asking: Asking | None = None,
) -> Flask:
    """Return the application for one store; the first request that needs the store opens it.

    Args:
        store: Path or URL of the store, or a function that opens it; called once per thread.
        settings: Limits; the defaults suit one machine.
        asking: Client for other instances, if applications are to share its cache; by default, each
            application has its own client.
    """
    app = Flask("arclink.service")
    app.request_class = ReadRequest
    chosen = settings or Settings()
    attach_stores(app, Stores(store, chosen, asking))
    register_headers(app, chosen.origins)
    register_problems(app, chosen.hosts)
    refuse_parts(app)
    for resource in (
        site,
        home,
        queries,
        questions,
        memento,
        archived,
        streaming,
        taking_away,
        browsing,
        subsets,
        selecting,
        aggregating,
        describing,
        watching,
    ):
        app.register_blueprint(resource)

    @app.before_request
    def refuse_long_queries() -> None:
        if len(request.query_string) > chosen.longest_query:
            raise RequestURITooLarge(
                f"The query part of a request may have up to {chosen.longest_query:,} characters."
            )

    register_validators(app)

    watch(app, chosen.collection)
    if not chosen.collection:  # else the application of all collections does it
        answer_below(app, chosen.public)
    return app


def answer_below(app: Flask, public: str, collections: Iterable[str] = ()) -> None:
    """Make an application answer below the path of its public address.

    Args:
        app: An application.
        public: Its public address; empty if it has none.
        collections: Names of its collections.
    """
    if path := public_path(public):
        own = {rule.rule.split("/")[1] for rule in app.url_map.iter_rules()}
        app.wsgi_app = BelowPath(app.wsgi_app, path, own | {*collections})  # type: ignore[method-assign]  # as Flask documents it
