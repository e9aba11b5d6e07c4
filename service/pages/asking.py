"""What a page is asked for, and the addresses of pages that ask for something else."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Self
from urllib.parse import urlencode

from arclink.access.queries import BadParameterError, LinkQuery
from arclink.access.texts import printable_uri


class View(Enum):
    """The views of one URI, in the order of the tabs; the value is what ``view`` says."""

    GLANCE = "glance"
    LINKS = "links"
    WORDS = "words"
    CHANGES = "changes"
    GRAPH = "graph"
    PLACES = "places"
    CAPTURES = "captures"

    @property
    def title(self) -> str:
        return _TITLES[self]


_TITLES = {
    View.GLANCE: "At a glance",
    View.LINKS: "Links",
    View.WORDS: "Words",
    View.CHANGES: "What changed",
    View.GRAPH: "Graph",
    View.PLACES: "Hosts",
    View.CAPTURES: "Captures",
}
_OF_LINKS = frozenset({"direction", "from", "to", "at", "kind", "redirects", "limit", "cursor", "validity", "evidence"})


@dataclass(frozen=True, slots=True)
class Asked:
    """One request for a page.

    Attributes:
        view: As ``view`` says; the links if it says nothing and a parameter of links is given.
        given: The other parameters in the order they came, without those that are empty.
    """

    view: View
    given: tuple[tuple[str, str], ...]

    @classmethod
    def from_parameters(cls, parameters: Iterable[tuple[str, str]]) -> Self:
        """Return what ``parameters`` ask for.

        Raises:
            BadParameterError: There is no such view.
        """
        given = [(name, value.strip()) for name, value in parameters if value.strip()]
        names = [value for name, value in given if name == "view"]
        others = tuple((name, value) for name, value in given if name != "view")
        if not names:
            return cls(View.LINKS if any(name in _OF_LINKS for name, _ in others) else View.GLANCE, others)
        try:
            return cls(View(names[0]), others)
        except ValueError as error:
            raise BadParameterError("view", names[0], " or ".join(view.value for view in View)) from error

    def get(self, name: str, default: str = "") -> str:
        """Return a parameter's first value."""
        return next((value for other, value in self.given if other == name), default)

    def only(self, *names: str) -> tuple[tuple[str, str], ...]:
        """Return the parameters of these names."""
        return tuple((name, value) for name, value in self.given if name in names)

    def changed(self, changes: Mapping[str, str | None]) -> str:
        """Return the address of this view with other values, None to leave one out; the cursor belongs to the old question."""
        kept = {name for name, _ in self.given} - {"cursor", *changes}
        pairs = [*self.only(*kept), *((name, value) for name, value in changes.items() if value)]
        return address(self.view, pairs)


def address(view: View, parameters: Iterable[tuple[str, str]]) -> str:
    """Return the address of a view, relative to the page."""
    named = [("view", view.value)] if view is not View.GLANCE else []
    pairs = list(parameters)
    first = [pair for pair in pairs if pair[0] in ("uri", "url")]
    return "?" + urlencode([*first, *named, *(pair for pair in pairs if pair not in first)])


def about(uri: str, view: View = View.GLANCE, **parameters: str | None) -> str:
    """Return the address of a view of ``uri``; parameters that are None or empty are left out, ``from_`` is ``from``."""
    pairs = ((name.rstrip("_"), value) for name, value in parameters.items() if value)
    return address(view, [("uri", printable_uri(uri)), *pairs])


def download(path: str, parameters: Iterable[tuple[str, str]]) -> str:
    """Return the address of an answer for programs."""
    return f"{path}?{urlencode(list(parameters))}"


def refuse_others(asked: Asked, *names: str) -> None:
    """Refuse parameters that a view does not have.

    Raises:
        BadParameterError: There is one.
    """
    for name, value in asked.given:
        if name not in names:
            raise BadParameterError(
                name, value, f"one of the parameters view, {', '.join(names)}; an '&' inside the URI asked for must be written %26"
            )


def plain_query(asked: Asked) -> LinkQuery:
    """Return the query for all that is known of the URI.

    Raises:
        BadParameterError: It is no URI.
    """
    return LinkQuery.from_parameters(asked.only("uri", "url"))
