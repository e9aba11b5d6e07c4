"""The Flask application of one store: resources, errors, and the parts common to all responses."""

from collections.abc import Callable

from flask import Flask, request
from werkzeug.exceptions import RequestURITooLarge

from arclink.federation.requests import Asking
from arclink.service.aggregate import aggregating, attach_asking
from arclink.service.archived import archived, attach_pages
from arclink.service.browsing import browsing
from arclink.service.description import describing
from arclink.service.fetch_metadata import refuse_parts
from arclink.service.headers import register_headers
from arclink.service.home import home
from arclink.service.memento import memento
from arclink.service.pages.html_output import site
from arclink.service.problems import register_problems
from arclink.service.query_resources import queries
from arclink.service.questions import questions
from arclink.service.request_log import watch, watching
from arclink.service.responses import ReadRequest
from arclink.service.selecting import selecting
from arclink.service.settings import Settings
from arclink.service.stores import Stores, attach_stores
from arclink.service.streaming import streaming
from arclink.service.subsets import subsets
from arclink.service.take_away import taking_away
from arclink.service.validators import register_validators
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
    attach_stores(app, Stores(store, chosen))
    attach_asking(app, asking or Asking(chosen.instances, chosen.limits))
    attach_pages(app, chosen.archives)
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
    return app
