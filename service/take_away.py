"""Captures as downloads, sent while they are made.

``/stream`` has every capture once, ``/export`` the same files as ``arclink export``.

Memory does not depend on the size of a download. A download that ends early is not complete: the
connection is then closed without the end of the answer.
"""

from collections.abc import Iterator

from flask import Blueprint, Response
from werkzeug.exceptions import NotFound

from arclink.access.common import SUBSET
from arclink.access.declarations import AnyParameter
from arclink.analysis.matrices.slice_cache import cache_of
from arclink.archives.payloads import DEFAULT_LIMIT
from arclink.captures.export import Source
from arclink.captures.formats import WRITERS, write_stream
from arclink.captures.queries import (
    STREAM_PARAMETERS,
    TAKE_AWAY_PARAMETERS,
    CaptureFormat,
    StreamQuery,
    TakeAwayQuery,
)
from arclink.captures.ranks import RankTables
from arclink.captures.stream import CaptureStream
from arclink.captures.warc import MOST_TEXT
from arclink.captures.write import download
from arclink.errors import ExportError, OperatorError, StoreError
from arclink.service.archived import check_pages
from arclink.service.problems import note_loss
from arclink.service.responses import MOST_LINKS, asked, started
from arclink.service.stores import requested_store, stores_of_app

streaming = Blueprint("streaming", __name__)

STREAM: tuple[AnyParameter, ...] = (*STREAM_PARAMETERS, SUBSET)


@streaming.get("/stream")
def stream() -> Response:
    """Answer with the captures, each once; the answer is made while the client reads it.

    Raises:
        NotFound: This service shows no captures.
        BadParameterError: A parameter is wrong, or the token is damaged or of another stream.
        GoneError: The rank table of the token was removed.
    """
    given = asked(STREAM)
    query = StreamQuery.of(given)
    check_pages()
    store = requested_store(given)
    where = stores_of_app().where
    tables = RankTables(cache_of(where) if where else None, where, MOST_LINKS)
    captures = CaptureStream(store, stores_of_app().reader_of(store), query, tables)
    limit = MOST_TEXT if query.form is CaptureFormat.TEXT else DEFAULT_LIMIT
    pieces = _logged(write_stream(captures, query.form, limit))
    response = Response(started(pieces), content_type=WRITERS[query.form].media_type)
    response.call_on_close(captures.close)
    return response


def _logged(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield pieces; an error after the first one is logged, because the end already says it."""
    count = 0
    try:
        for piece in pieces:
            count += 1
            yield piece
    except (OperatorError, OSError) as error:
        if isinstance(error, StoreError):
            note_loss(error)
        elif not count:
            raise


taking_away = Blueprint("taking_away", __name__)

EXPORT: tuple[AnyParameter, ...] = (*TAKE_AWAY_PARAMETERS, SUBSET)


@taking_away.get("/export")
def export() -> Response:
    """Answer with a file of captures.

    Raises:
        NotFound: This service shows no captures, or the query has none that can be read.
    """
    check_pages()
    given = asked(EXPORT)
    query = TakeAwayQuery.of(given)
    settings, subset = stores_of_app().settings, SUBSET.optional(given) or ""
    title = settings.collection or "captures"
    source = Source(
        requested_store(given), stores_of_app().archive_paths, subset, settings.cited_as
    )
    form = WRITERS[query.form]
    pieces = download(source, query, title)
    try:
        response = Response(started(pieces), content_type=form.media_type)
    except ExportError as error:
        raise NotFound(str(error)) from error
    response.call_on_close(pieces.close)
    name = f"{title}{form.suffix}"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
