"""A part of the web that a person names: one URI, a host or a registered domain, and the SURTs that belong to it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from arclink.access.queries import BadParameterError, absolute_uri, surt_asked
from arclink.analysis.slices import Level
from arclink.model import Surt, UriR
from arclink.store import GraphStore


def beginning_of(name: str) -> str:
    """Return what the SURTs of a host or domain begin with; others may begin so, too.

    >>> beginning_of("bbc.co.uk"), beginning_of("::1")
    ('uk,co,bbc', '::1')
    """
    return name if ":" in name else ",".join(reversed(name.split(".")))


@dataclass(frozen=True, slots=True)
class Target:
    """What links lead to.

    Attributes:
        uri: As it was asked for, made absolute.
        surt: Of the URI.
        name: What ``level`` makes of the SURT.
    """

    uri: UriR
    surt: Surt
    level: Level
    name: str

    @classmethod
    def asked(cls, text: str, level: Level) -> Self:
        """Return what a person means with ``text``: a URI, or any URI or the name of a host or domain.

        Raises:
            BadParameterError: It is no URI, or has no host.
        """
        surt = surt_asked("URI", text.strip())
        name = level.name_of(surt)
        if not name:
            raise BadParameterError("URI", text, "a URI with a host")
        return cls(absolute_uri(text.strip()), surt, level, name)

    def has(self, surt: Surt) -> bool:
        """Tell whether ``surt`` belongs to it."""
        return self.level.name_of(surt) == self.name

    def surts(self, store: GraphStore) -> Iterator[Surt]:
        """Yield the SURTs of mementos and targets that belong to it, each once."""
        if self.level is Level.URI:
            yield self.surt
            return
        beginning = beginning_of(self.name)
        for behind in (")", ",", ":"):  # what may stand behind a host, or behind a domain
            yield from (surt for surt in store.surts(Surt(beginning + behind)) if self.has(surt))
