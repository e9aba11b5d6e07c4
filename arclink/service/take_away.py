"""Captures as a download: the same files as those of ``arclink export``, sent while they are made.

Memory does not depend on the size of a download. A download that ends early is not complete: the
connection is then closed without the end of the answer.
"""

from flask import Blueprint, Response
from werkzeug.exceptions import NotFound

from arclink.access.common import SUBSET
from arclink.access.declarations import AnyParameter
from arclink.captures.export import Source
from arclink.captures.formats import WRITERS
from arclink.captures.queries import TAKE_AWAY_PARAMETERS, TakeAwayQuery
from arclink.captures.write import download
from arclink.errors import ExportError
from arclink.service.archived import check_pages, current_archive_paths
from arclink.service.responses import asked, started
from arclink.service.stores import requested_store, stores_of_app

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
    paths = current_archive_paths()
    source = Source(requested_store(given), paths, subset, settings.cited_as)
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
