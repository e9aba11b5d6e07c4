"""The request for a page, and the addresses of pages with other parameters."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Self
from urllib.parse import urlencode

from arclink.access.chronicles import Chronicle
from arclink.access.queries import KINDS, BadParameterError, LinkQuery, as_page
from arclink.access.texts import printable_uri
from arclink.analysis.charts.svg import Axis, Mark
from arclink.analysis.matrices.slices import Level
from arclink.analysis.questions.table import Group, QuestionScope
from arclink.model import Timestamp
from arclink.service.settings import LONGEST, Settings, in_ascii
from arclink.store.protocols import Answers
from arclink.uris.hosts import is_ip_address, root_of


class View(Enum):
    """The views of one URI; the value is that of parameter ``view``."""

    GLANCE = "glance"
    LINKS = "links"
    PLACES = "places"
    GRAPH = "graph"
    ANCHORS = "anchors"
    CHANGES = "changes"
    TEXT = "text"
    CAPTURES = "captures"

    @property
    def asks(self) -> "ViewQuestion":
        return _ASKS[self]


class ViewQuestion(NamedTuple):
    """What a view answers.

    Attributes:
        sentence: The question, with ``{it}`` for the page.
        group: What it is about; None for everything.
        then: The same after another question about the page.
    """

    sentence: str
    group: Group | None = None
    then: str = ""


_ASKS = {
    View.GLANCE: ViewQuestion("{it}"),
    View.LINKS: ViewQuestion(
        "Which links lead to {it}, and from it?", Group.WHO, "Each link to it, and on it"
    ),
    View.PLACES: ViewQuestion(
        "Which hosts linked to {it}, and where did it lead?",
        Group.WHO,
        "Which hosts linked to it?",
    ),
    View.GRAPH: ViewQuestion("Which pages are around {it}?", Group.WHO, "Who is around it?"),
    View.ANCHORS: ViewQuestion(
        "With which words was {it} linked?", Group.WORDS, "With which words?"
    ),
    View.CHANGES: ViewQuestion(
        "What changed on {it} between two times?", Group.CHANGED, "What changed between two times?"
    ),
    View.TEXT: ViewQuestion(
        "How did the text of {it} change?", Group.CHANGED, "How did its text change?"
    ),
    View.CAPTURES: ViewQuestion("When was {it} captured?", Group.IN_IT, "When was it captured?"),
}
_WAS = {"words": View.ANCHORS.value}
"""Earlier names of views, in addresses that people kept."""
_OF_LINKS = frozenset(
    {
        "direction",
        "from",
        "to",
        "at",
        "kinds",
        "redirects",
        "limit",
        "cursor",
        "validity",
        "evidence",
    }
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request for a page.

    Attributes:
        view: Value of ``view``; by default the links if a parameter of links is given, else the
            view at a glance.
        given: The other parameters in the order they were given, without empty ones.
    """

    view: View
    given: tuple[tuple[str, str], ...]

    @classmethod
    def from_parameters(cls, parameters: Iterable[tuple[str, str]]) -> Self:
        """Return the request with these ``parameters``.

        Raises:
            BadParameterError: The view is unknown.
        """
        given = [
            (KINDS.name if name in KINDS.also else name, value.strip())
            for name, value in parameters
            if value.strip()
        ]
        names = [value for name, value in given if name == "view"]
        remaining = tuple((name, value) for name, value in given if name != "view")
        if not names:
            return cls(
                View.LINKS if any(name in _OF_LINKS for name, _ in remaining) else View.GLANCE,
                remaining,
            )
        try:
            return cls(View(_WAS.get(names[0], names[0])), remaining)
        except ValueError as error:
            raise BadParameterError(
                "view", names[0], " or ".join(view.value for view in View)
            ) from error

    def get(self, name: str, default: str = "") -> str:
        """Return a parameter's first value."""
        return next((value for other, value in self.given if other == name), default)

    def only(self, *names: str) -> tuple[tuple[str, str], ...]:
        """Return the parameters with these names."""
        return tuple((name, value) for name, value in self.given if name in names)

    def changed(self, changes: Mapping[str, str | None]) -> str:
        """Return the address of this view with other values; a value of None removes the parameter.

        The cursor is removed, because it belongs to the old query.
        """
        unchanged = {name for name, _ in self.given} - {"cursor", *changes}
        pairs = [
            *self.only(*unchanged),
            *((name, value) for name, value in changes.items() if value),
        ]
        return address(self.view, pairs)


def address(view: View, parameters: Iterable[tuple[str, str]]) -> str:
    """Return the address of a view, relative to the page; empty if it is too long for a link."""
    named = [("view", view.value)] if view is not View.GLANCE else []
    pairs = list(parameters)
    first = [pair for pair in pairs if pair[0] in ("uri", "url")]
    return download("", [*first, *named, *(pair for pair in pairs if pair not in first)])


def about(uri: str, view: View = View.GLANCE, **parameters: str | None) -> str:
    """Return the address of a view of ``uri``.

    Parameters that are None or empty are left out; ``from_`` is written as ``from``.
    """
    pairs = ((name.rstrip("_"), value) for name, value in parameters.items() if value)
    return address(view, [("uri", as_page(printable_uri(uri))), *pairs])


def part_of(name: str, level: Level) -> list[tuple[str, str]]:
    """Return the parameters of a question about a page, host or domain; the address is first."""
    if level is Level.URI:
        return [("uri", name), ("scope", QuestionScope.PAGE.value)]
    if level is Level.DOMAIN and not is_ip_address(name):
        return [("uri", f"*.{name}")]
    scope = QuestionScope.HOST if level is Level.HOST else QuestionScope.DOMAIN
    return [("uri", root_of(name)), ("scope", scope.value)]


def download(path: str, parameters: Iterable[tuple[str, str]]) -> str:
    """Return the address of an answer for programs; empty if it is too long for a link."""
    pairs = list(parameters)
    if sum(len(value) for _, value in pairs) > LONGEST:
        return ""
    return linked(f"{path}?{urlencode(pairs)}")


def linked(address: str) -> str:
    """Return an address in a page; empty if it is too long: an ``a`` without one is no link."""
    # A character may become 12: four bytes, each as %XX.
    is_short = 12 * len(address) <= LONGEST or len(in_ascii(address)) <= LONGEST
    return address if is_short else ""


@dataclass(frozen=True, slots=True)
class PageHistory:
    """The request for a view of a page, and what the store knows about the page.

    Attributes:
        asked: The request.
        query: The query for everything that is known about the URI.
        axis: The axis of time of its chronicle.
    """

    asked: Asked
    query: LinkQuery
    store: Answers
    settings: Settings
    chronicle: Chronicle
    axis: Axis

    @property
    def uri(self) -> str:
        """The URI as pages show it."""
        return printable_uri(self.query.uri)

    @property
    def times(self) -> list[Timestamp]:
        """The times of its captures, oldest first."""
        return [captured.memento.timestamp for captured in self.chronicle.captures]

    def marks(self, href: Callable[[str], str] | None = None) -> Sequence[tuple[Mark, str]]:
        """Return the captures on the axis, each with an address; by default, the links then."""
        href = href or (lambda at: about(self.query.uri, View.LINKS, at=at))
        return [(mark, href(mark.at)) for mark in self.axis.marks(self.chronicle.captures)]

    def refuse_others(self, *names: str) -> None:
        """Refuse parameters that a view does not have, but for the URI.

        Raises:
            BadParameterError: There is such a parameter.
        """
        for name, value in self.asked.given:
            if name not in ("uri", "url", *names):
                raise BadParameterError(
                    name,
                    value,
                    f"one of the parameters view, {', '.join(('uri', 'url', *names))}; an '&' "
                    "inside the URI must be written %26",
                )


def plain_query(asked: Asked) -> LinkQuery:
    """Return the query for everything that is known about the URI.

    Raises:
        BadParameterError: It is not a URI.
    """
    return LinkQuery.from_parameters(asked.only("uri", "url"))
