"""The application of the replay origin: captures, the page around them, and the worker.

An archived page may do everything that its browser allows it, so this server is the second line of
defence after the worker: each answer has a policy of its own, captures are never shown as pages
without the worker, and no file but ``worker.js`` can become a service worker.

Source: Content Security Policy Level 3; WICG, *Connection Allowlists*; Service Workers, section 4.6
(``Service-Worker`` request header), section 7 (scope).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from wsgiref.types import WSGIApplication

import brotli  # type: ignore[import-untyped]  # has no types
import orjson
from flask import Blueprint, Flask, Response, request
from werkzeug.exceptions import Forbidden, NotFound
from werkzeug.middleware.dispatcher import DispatcherMiddleware

from arclink.errors import StoreError
from arclink.service.archived import archived
from arclink.service.memento import Rest
from arclink.service.problems import register_problems
from arclink.service.request_log import watch
from arclink.service.responses import refuse_parts, register_headers
from arclink.service.settings import Settings, source_of
from arclink.service.stores import Stores, attach_stores, stores_of_app
from arclink.store.protocols import Scans

STATIC: Final = Path(__file__).parent / "static"

_REPLAYED_POLICY: Final = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; connect-src 'self' data: blob:; "
    "form-action 'self'; base-uri 'self'; object-src 'none'; frame-ancestors 'self' {service}"
)
"""Policy of archived pages: they may do anything, but only at this origin."""

ONLY_HERE: Final = "(response-origin);redirects=allow"
"""Value of ``Connection-Allowlist``: no connection to another host, and no WebRTC.

Redirects are those of this server, to the nearest capture; the policies hold for them, too.

It also covers what a Content-Security-Policy does not, in browsers that know it.
"""

_WORKER_POLICY: Final = "default-src 'none'; script-src {wabac}; connect-src 'self'"
_SHELL_POLICY: Final = (
    "default-src 'none'; script-src {script}; style-src {style}; frame-src {pages} {worker}; "
    "worker-src {worker}; base-uri 'none'; form-action 'none'; frame-ancestors {service}; "
    "require-trusted-types-for 'script'; trusted-types worker; "
    "sandbox allow-scripts allow-same-origin allow-forms"
)
"""Policy of the shell. It names paths: archived pages have this origin, and can reach the shell.

Firefox takes the address of the worker for that of the pages that it serves.
"""
_CAPTURE_POLICY: Final = "sandbox; default-src 'none'; frame-ancestors 'none'"
"""Policy of captures as such: the worker reads them; a browser that opens one shows it inert."""

_shell_files: Final = Blueprint("replay", __name__)
_CAPTURE: Final = re.compile(r"/web/[0-9]*id_/")
_FILES: Final = {"shell.js": "text/javascript", "shell.css": "text/css"}


@_shell_files.get("/replay/")
def shell() -> Response:
    """Return the page that holds the replayed one; only the service may show it."""
    service = _service()
    page = (STATIC / "shell.html").read_text("utf-8").replace("@SERVICE@", service)
    policy = _SHELL_POLICY.format(
        script=_source("replay/shell.js"),
        style=_source("replay/shell.css"),
        pages=_source("w/"),
        worker=_source("worker.js"),
        service=service,
    )
    return _own(page.encode(), "text/html", policy)


def _source(path: str) -> str:
    """Return the source in a policy for a path of this origin."""
    return source_of(path, urlsplit(stores_of_app().settings.browse.origin).netloc)


@_shell_files.get("/replay/<any('shell.js', 'shell.css'):name>")
def shell_part(name: str) -> Response:
    """Return a part of the shell."""
    return _own((STATIC / name).read_bytes(), _FILES[name], "default-src 'none'")


@_shell_files.get("/worker.js")
def worker() -> Response:
    """Return the service worker; its address says nothing, so nothing else can be asked of it."""
    if request.query_string:
        raise NotFound("The worker takes no parameters.")
    program = (STATIC / "worker.js").read_bytes()
    program = program.replace(
        b"@POLICY@", orjson.dumps(_REPLAYED_POLICY.format(service=_service()))
    ).replace(b"@CONNECTIONS@", orjson.dumps(ONLY_HERE))
    policy = _WORKER_POLICY.format(wabac=_source("replay/wabac.js"))
    return _own(program, "text/javascript", policy)


@_shell_files.get("/replay/wabac.js")
def wabac() -> Response:
    """Return wabac.js, in Brotli if the client takes that."""
    is_compressed = request.accept_encodings["br"] > 0
    content = _wabac_compressed() if is_compressed else wabac_plain()
    response = _own(content, "text/javascript", "default-src 'none'")
    if is_compressed:
        response.headers["Content-Encoding"] = "br"
    response.vary.add("Accept-Encoding")
    return response


@cache
def _wabac_compressed() -> bytes:
    """Return wabac.js in Brotli, as it is stored.

    ``static/wabac.json`` records its version, licence and checksums; CONTRIBUTING.md says how to
    renew it.
    """
    return (STATIC / "wabac.js.br").read_bytes()


@cache
def wabac_plain() -> bytes:
    """Return wabac.js, for the few browsers that do not accept Brotli."""
    plain: bytes = brotli.decompress(_wabac_compressed())
    return plain


def _service() -> str:
    """Return the origin of the service that may show archived pages of this replay origin.

    Raises:
        NotFound: It is not known, so no page may show them.
    """
    service = stores_of_app().settings.browse.of_service(request.host)
    if not service:
        raise NotFound("This is where archived pages are replayed; ask the service for /browse/.")
    return service


def _own(content: bytes, media_type: str, policy: str) -> Response:
    response = Response(content, content_type=f"{media_type}; charset=utf-8")
    response.headers["Content-Security-Policy"] = policy
    response.add_etag()
    response.headers["Cache-Control"] = "no-cache"
    response.make_conditional(request)
    return response


def create_replay(
    stores: str | Callable[[], Scans] | Mapping[str, str],
    settings: Settings | None = None,
) -> Flask:
    """Return the application of the replay origin, for one store or several collections.

    Args:
        stores: Path or URL of the store, or a function that opens it, or the path or URL of each of
            several stores by name.
        settings: Settings of the service, with the same embargo.
    """
    chosen = settings or Settings()
    if not isinstance(stores, Mapping):
        return _with_captures(_application(chosen), stores, chosen)
    app = _application(chosen)
    attach_stores(app, Stores(_no_store, chosen))
    below: dict[str, WSGIApplication] = {
        f"/{name}": _with_captures(
            _application(chosen, has_shell=False), where, replace(chosen, collection=name)
        ).wsgi_app
        for name, where in stores.items()
    }
    app.wsgi_app = DispatcherMiddleware(app.wsgi_app, below)  # type: ignore[method-assign]  # as Flask documents it
    return app


def _application(settings: Settings, *, has_shell: bool = True) -> Flask:
    app = Flask("arclink.service", static_folder=None)
    app.url_map.converters["rest"] = Rest
    register_headers(app)
    register_problems(app, settings.hosts)
    refuse_parts(app, own=("empty",))  # to the worker
    if has_shell:
        app.register_blueprint(_shell_files)

    @app.after_request
    def allow_no_other_host(response: Response) -> Response:
        response.headers["Connection-Allowlist"] = ONLY_HERE
        return response

    @app.before_request
    def refuse_other_workers() -> None:
        if "Service-Worker" in request.headers and request.path != "/worker.js":
            raise Forbidden("Only worker.js can be a service worker here.")

    return app


def _with_captures(app: Flask, where: str | Callable[[], Scans], settings: Settings) -> Flask:
    """Add the captures of one store: their bytes as archived, and nothing else."""
    attach_stores(app, Stores(where, settings))
    app.register_blueprint(archived)

    @app.before_request
    def answer_only_captures() -> None:
        if request.blueprint == archived.name and _CAPTURE.match(request.path) is None:
            raise NotFound("Here are captures only, as /web/TIMEid_/URI.")

    @app.after_request
    def protect_captures(response: Response) -> Response:
        if request.blueprint == archived.name:
            response.headers["Content-Security-Policy"] = _CAPTURE_POLICY
            response.headers["Cache-Control"] = "no-store"
        return response

    watch(app, settings.collection)
    return app


def _no_store() -> Scans:
    raise StoreError("each collection has its own store")
