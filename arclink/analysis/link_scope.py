"""The links that count for a history, and questions about them to the relations of a store."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arclink.access.kinds import others_line
from arclink.access.queries import BadParameterError, LinkQuery, surt_asked
from arclink.analysis.slices import Level
from arclink.analysis.windows import Windows
from arclink.model import Kind
from arclink.relations.parts import ARCHIVE, WebPart
from arclink.uris.hosts import host_of

if TYPE_CHECKING:
    from arclink.relations.database import RelationsDatabase


@dataclass(frozen=True, slots=True)
class LinkScope:
    """The links that count.

    A page has at most one link to a target, even if it links there several times or with several
    texts.

    Attributes:
        level: The level of targets; a target without host (``mailto:``) does not count.
        wants: Returns whether links of a kind count.
        is_external: Count only links to other hosts than the page's, or to other domains at that
            level.
    """

    level: Level
    wants: Callable[[Kind], bool] = lambda _: True
    is_external: bool = False


def ask_about_links(
    database: "RelationsDatabase",
    *names: str,
    scope: LinkScope,
    part: WebPart,
    windows: Windows | None = None,
    **values: object,
) -> Sequence[Mapping[str, Any]]:
    """Return the rows of a question (`arclink.relations.asking.ask`).

    Args:
        database: The relations.
        *names: Its texts, those after ``common``.
        scope: The links that count.
        part: The part of the web that it is about.
        windows: The windows of time, if it has any.
        **values: Its other values.

    Raises:
        OperatorError: The files of the relations cannot be read.
    """
    from arclink.relations.asking import ask

    windows = windows or Windows()
    asked = {
        "level": scope.level.value,
        "is_external": scope.is_external,
        "kinds": database.kinds(scope.wants),
        **part._asdict(),
        **windows.values,
    }
    return ask(database, "common", *names, values={**asked, **values})


def other_kinds(database: "RelationsDatabase", links: LinkQuery) -> list[str]:
    """Return a line for users if there are links, but only of other kinds than those that count.

    Raises:
        OperatorError: The files of the relations cannot be read.
    """
    scope = LinkScope(Level.URI, links.wants)
    rows = ask_about_links(database, "other-kinds", scope=scope, part=ARCHIVE)
    return [others_line(links.kinds, row["occurrences"]) for row in rows if row["occurrences"]]


def site_asked(name: str) -> WebPart:
    """Return a host with its ports and subdomains; everything for an empty name.

    Raises:
        BadParameterError: It is not the name of a host.
    """
    if not name:
        return ARCHIVE
    host = host_of(surt_asked("--site", name))
    if not host:
        raise BadParameterError("--site", name, "the name of a host such as example.org")
    return WebPart.below("site", host)
