"""Link churn: how many links the pages of a host gain and lose between consecutive captures.

Each capture with known links is compared with the one before it of the same page; an error or a
redirect is a capture without links (`arclink.access.link_states`). Other captures that were not
read are in no comparison. A comparison belongs to the window of its later capture; its earlier
capture may be before that window. The average time between the two is reported next to the counts.
"""

from typing import TYPE_CHECKING, NamedTuple

from arclink.analysis.link_scope import LinkScope, ask_about_links
from arclink.analysis.windows import Windows
from arclink.relations.parts import ARCHIVE, WebPart

if TYPE_CHECKING:
    from arclink.relations.database import RelationsDatabase


class Churn(NamedTuple):
    """Sums over comparisons of two captures.

    Attributes:
        window: The window of the later capture.
        part: The host or domain of the pages, or ``all``.
        pages: Number of distinct pages that were compared.
        comparisons: Number of pairs of captures.
        seconds: Sum of the times between the two captures, in seconds.
        before: Number of links of the earlier captures.
        added: Number of links that only the later capture has.
        removed: Number of links that only the earlier capture has.
    """

    window: str
    part: str
    pages: int
    comparisons: int
    seconds: int
    before: int
    added: int
    removed: int


def churn_of_links(
    database: "RelationsDatabase",
    scope: LinkScope,
    windows: Windows,
    per: str = "host",
    pages: WebPart = ARCHIVE,
) -> list[Churn]:
    """Return the gained and lost links, by window and group of pages.

    Args:
        database: The relations.
        scope: The links that count.
        windows: The windows.
        per: How pages are grouped: ``host``, ``domain`` or ``all``.
        pages: The pages.

    Raises:
        OperatorError: The files of the relations cannot be read.
    """
    rows = ask_about_links(database, "churn", scope=scope, part=pages, windows=windows, per=per)
    return [Churn(**row) for row in rows]
