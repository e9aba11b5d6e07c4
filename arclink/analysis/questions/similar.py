"""Addresses that are almost an unknown one, for readers who may have mistyped it."""

from collections.abc import Sequence

from arclink.analysis.matrices.slices import Level
from arclink.analysis.questions.queries import LEVEL, LIMIT, SCOPE, AskQuery
from arclink.analysis.questions.table import QuestionScope

MOST_SIMILAR = 5
"""Number of pages, and of hosts, with almost the address of a page that is unknown."""


def similar_queries(uri: str) -> Sequence[AskQuery]:
    """Return the questions for pages, and for hosts, with almost the address of a page.

    Raises:
        BadParameterError: It is no URI.
    """
    given = [("uri", uri), (SCOPE.name, QuestionScope.PAGE.value), (LIMIT.name, str(MOST_SIMILAR))]
    return [
        AskQuery.from_parameters([*given, (LEVEL.name, level.value)], name="near")
        for level in (Level.URI, Level.HOST)
    ]
