"""The Flask application: resources, errors, and what every response carries."""

from collections.abc import Callable

from flask import Flask, Response, request
from werkzeug.exceptions import RequestURITooLarge

from arclink.neighbours.asking import Asking
from arclink.store import GraphStore
from service.aggregating import aggregating, attach_asking
from service.describing import describing
from service.explain import explaining
from service.health import health
from service.home import home
from service.links import links
from service.memento import memento
from service.pages.rendering import site
from service.problems import register_problems
from service.settings import Settings
from service.stores import Stores, attach_stores
from service.through_time import through_time
from service.validators import register_validators
from service.watching import watch, watching


def create_app(store: str | Callable[[], GraphStore], settings: Settings | None = None, asking: Asking | None = None) -> Flask:
    """Return the application for one store, which it opens when the first request needs it.

    Args:
        store: Path or URL, or what opens the store; called once per thread.
        settings: Limits; the defaults suit one machine.
        asking: Asks other instances, if applications are to share what it remembers; else the one has its own.
    """
    app = Flask("service")
    chosen = settings or Settings()
    attach_stores(app, Stores(store, chosen))
    attach_asking(app, asking or Asking(chosen.instances, chosen.limits))
    register_problems(app)
    for resource in (site, home, links, through_time, memento, explaining, aggregating, describing, health, watching):
        app.register_blueprint(resource)

    @app.before_request
    def refuse_long_queries() -> None:
        if len(request.query_string) > chosen.longest_query:
            raise RequestURITooLarge(f"The query part of a request may have {chosen.longest_query:,} characters.")

    register_validators(app)

    @app.after_request
    def forbid_guessing(response: Response) -> Response:
        response.headers["X-Content-Type-Options"] = "nosniff"
        # Pages bring a policy of their own; what is no page may do nothing at all, should a browser show it.
        response.headers.setdefault("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
        response.headers.setdefault("Referrer-Policy", "no-referrer")
        response.headers.setdefault("X-Frame-Options", "DENY")
        return response

    watch(app, chosen.collection)
    return app
