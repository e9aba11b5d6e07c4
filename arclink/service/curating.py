"""Lists for curators over HTTP: ``/gaps`` and ``/stale``."""

from typing import Final

from flask import Blueprint, Response

from arclink.access.common import SUBSET
from arclink.access.declarations import AnyParameter
from arclink.analysis.seed_lists import (
    GAPS_PARAMETERS,
    SEED_FORMAT,
    STALE_PARAMETERS,
    SeedKind,
    SeedQuery,
    seed_list,
)
from arclink.errors import UsageError
from arclink.service.responses import asked, content_type, end_if_client_left
from arclink.service.stores import current_store, requested_store

curating = Blueprint("curating", __name__)

FOUND: Final = "ArcLink-Found"
"""Header with the number of pages that a list would have without limit."""

MOST_LINKS: Final = 1_000_000
"""Largest number of links of a store whose lists a request may ask for (seconds)."""

GAPS: tuple[AnyParameter, ...] = (*GAPS_PARAMETERS, SUBSET)
STALE: tuple[AnyParameter, ...] = (*STALE_PARAMETERS, SUBSET)


@curating.get("/gaps")
def gaps() -> Response:
    """Answer with the most linked pages that were never captured."""
    return _listed(SeedKind.GAPS, GAPS)


@curating.get("/stale")
def stale() -> Response:
    """Answer with the most linked pages that were not captured since a time."""
    return _listed(SeedKind.STALE, STALE)


def _listed(kind: SeedKind, parameters: tuple[AnyParameter, ...]) -> Response:
    given = asked(parameters)
    query, form = SeedQuery.of(given, kind), SEED_FORMAT.required(given)
    if current_store().sums().links > MOST_LINKS:
        raise UsageError(
            f"this store has more than {MOST_LINKS:,} links, too many to make a list for a "
            f"request; its owner makes one with: arclink {kind.value}"
        )
    found = seed_list(requested_store(given), query, end_if_client_left)
    response = Response(b"".join(form.write(found)), content_type=content_type(form.media_type))
    response.headers[FOUND] = str(found.found)
    return response
