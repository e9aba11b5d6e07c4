"""What operators watch: counts, times and, if configured, logs of every request; and the health.

A WSGI wrapper of the application sees every request. The metrics are at ``/metrics`` in the format
of Prometheus. Several workers count in files of one folder, and the worker that answers adds them
up; for this, ``PROMETHEUS_MULTIPROC_DIR`` must be set before this module is imported.

Source: Prometheus, *Metric and label naming*; its Python client, *Multiprocess mode*.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from time import perf_counter
from types import TracebackType
from typing import Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Blueprint, Flask, Response, jsonify, request
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from arclink.access.texts import printable
from arclink.errors import StoreError
from arclink.service.responses import HealthFields
from arclink.service.stores import Stores, current_store, stores_of_app
from arclink.version import VERSION

watching = Blueprint("watching", __name__)

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_LONGEST_TARGET: Final = 2_000
"""Maximum characters of a request's target that are logged."""

_access_log = logging.getLogger("arclink.access")

_RESOURCE: Final = "arclink.resource"
_WORKERS: Final = "PROMETHEUS_MULTIPROC_DIR"

_registry = CollectorRegistry()
_requests = Counter(
    "arclink_requests",
    "Requests answered.",
    ("collection", "resource", "method", "status"),
    registry=_registry,
)
_seconds = Histogram(
    "arclink_request_seconds",
    "Seconds from the request to the last byte passed to the server.",
    ("collection", "resource"),
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
    registry=_registry,
)
_bytes = Counter(
    "arclink_response_bytes", "Bytes of answers.", ("collection", "resource"), registry=_registry
)
_broken = Counter(
    "arclink_answers_broken_off",
    "Answers that ended too early.",
    ("collection", "resource"),
    registry=_registry,
)
_in_progress = Gauge(
    "arclink_requests_in_progress",
    "Requests that are being answered.",
    ("collection",),
    registry=_registry,
    multiprocess_mode="livesum",
)


@watching.get("/health")
def check() -> Response:
    """Answer 200 with the number of batches if the store can be read.

    Else the handler answers 503.
    """
    batches = sum(1 for _ in current_store().batches())
    return jsonify(HealthFields(status="ok", batches=batches))


@watching.get("/metrics")
def metrics() -> Response:
    """Answer with the counts of all workers and the current state of the store."""
    stores = stores_of_app()
    return expose({stores.settings.collection: stores})


def expose(stores: dict[str, Stores]) -> Response:
    """Return all metrics; ``stores`` has the stores whose state is included, by collection."""
    registry = _registry
    if _WORKERS in os.environ:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # the library has no types here
    now = CollectorRegistry()
    Gauge("arclink_info", "Version of this service.", ("version",), registry=now).labels(
        VERSION
    ).set(1)
    is_up = Gauge(
        "arclink_store_up", "Whether the store can be read.", ("collection",), registry=now
    )
    batches = Gauge(
        "arclink_store_last_batch",
        "Number of the batch that was loaded last.",
        ("collection",),
        registry=now,
    )
    for name, of_collection in stores.items():
        try:
            batches.labels(name).set(of_collection.current().last_batch())
            is_up.labels(name).set(1)
        except StoreError:
            of_collection.forget()
            is_up.labels(name).set(0)
    return Response(generate_latest(registry) + generate_latest(now), content_type=MEDIA_TYPE)


def watch(app: Flask, collection: str) -> None:
    """Make every request of ``app`` counted and logged."""

    @app.before_request
    def tell_resource() -> None:
        request.environ[_RESOURCE] = (request.endpoint or "none").rpartition(".")[2]

    app.wsgi_app = _Watched(app.wsgi_app, collection)  # type: ignore[method-assign]  # as Flask documents it


class _Watched:
    def __init__(self, app: WSGIApplication, collection: str) -> None:
        self._app = app
        self._collection = collection

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        seen = _Seen(environ, self._collection)

        def start(
            status: str,
            headers: list[tuple[str, str]],
            exc_info: tuple[type[BaseException], BaseException, TracebackType]
            | tuple[None, None, None]
            | None = None,
        ) -> Callable[[bytes], object]:
            seen.status = status[:3]
            return start_response(status, headers, exc_info)

        try:
            return _Watching(self._app(environ, start), seen)
        except BaseException:
            seen.end(is_whole=False)
            raise


class _Seen:
    """The data of one request: status, bytes and time."""

    def __init__(self, environ: WSGIEnvironment, collection: str) -> None:
        self._environ = environ
        self._collection = collection
        self._began = perf_counter()
        self._is_ended = False
        self.status = "500"
        self.bytes = 0
        _in_progress.labels(collection).inc()

    def end(self, *, is_whole: bool) -> None:
        if self._is_ended:
            return
        self._is_ended = True
        resource = str(self._environ.get(_RESOURCE, "none"))
        method = str(self._environ["REQUEST_METHOD"])
        # A label must not contain arbitrary text from a client.
        known = method if method in ("GET", "HEAD", "OPTIONS", "POST") else "other"
        seconds = perf_counter() - self._began
        _in_progress.labels(self._collection).dec()
        _requests.labels(self._collection, resource, known, self.status).inc()
        _seconds.labels(self._collection, resource).observe(seconds)
        _bytes.labels(self._collection, resource).inc(self.bytes)
        if not is_whole:
            _broken.labels(self._collection, resource).inc()
        if _access_log.isEnabledFor(logging.INFO):
            self._log(method, resource, seconds, is_whole)

    def _log(self, method: str, resource: str, seconds: float, is_whole: bool) -> None:
        environ = self._environ
        target = str(environ.get("REQUEST_URI") or environ.get("PATH_INFO", ""))[:_LONGEST_TARGET]
        about = {
            "remote": printable(str(environ.get("REMOTE_ADDR", ""))),
            "method": printable(method),
            "target": printable(target),
            "status": int(self.status),
            "bytes": self.bytes,
            "seconds": round(seconds, 6),
            "resource": resource,
            "collection": self._collection,
            "whole": is_whole,
        }
        if environ.get("HTTP_X_REQUEST_ID"):
            about["request_id"] = printable(str(environ["HTTP_X_REQUEST_ID"])[:100])
        _access_log.info(
            "%s %s %s", about["method"], about["target"], self.status, extra={"request": about}
        )


class _Watching:
    """The body of an answer, counted to its end; it may end early if the client or store fails."""

    def __init__(self, pieces: Iterable[bytes], seen: _Seen) -> None:
        self._pieces = pieces
        self._rest = iter(pieces)
        self._seen = seen
        self._is_whole = False

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            piece = next(self._rest)
        except StopIteration:
            self._is_whole = True
            raise
        self._seen.bytes += len(piece)
        return piece

    def close(self) -> None:
        close = getattr(self._pieces, "close", None)
        try:
            if close is not None:
                close()
        finally:
            self._seen.end(is_whole=self._is_whole or self._seen.status in ("204", "304"))
