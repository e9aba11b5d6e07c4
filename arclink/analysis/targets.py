"""A part of the web that a user names (a URI, a host or a registered domain), and its SURTs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from arclink.access.queries import BadParameterError, absolute_uri, surt_asked
from arclink.analysis.slices import Level
from arclink.model import Surt, UriR
from arclink.store.protocols import Answers


def beginning_of(name: str) -> str:
    """Return the start of the SURTs of a host or domain; other SURTs may have the same start.

    >>> beginning_of("bbc.co.uk"), beginning_of("::1")
    ('uk,co,bbc', '::1')
    """
    return name if ":" in name else ",".join(reversed(name.split(".")))


@dataclass(frozen=True, slots=True)
class Target:
    """The target of links: a URI, a host or a domain.

    Attributes:
        uri: The URI that the user named, made absolute.
        surt: The SURT of the URI.
        name: The name of the SURT's node at ``level``.
    """

    uri: UriR
    surt: Surt
    level: Level
    name: str

    @classmethod
    def asked(cls, text: str, level: Level) -> Self:
        """Return the target for ``text``: a URI, or any URI or name of a host or domain.

        Raises:
            BadParameterError: It is not a URI, or has no host.
        """
        surt = surt_asked("URI", text.strip())
        name = level.name_of(surt)
        if not name:
            raise BadParameterError("URI", text, "a URI with a host")
        return cls(absolute_uri(text.strip()), surt, level, name)

    def has(self, surt: Surt) -> bool:
        """Return whether ``surt`` belongs to the target."""
        return self.level.name_of(surt) == self.name

    def surts(self, store: Answers) -> Iterator[Surt]:
        """Yield the SURTs of mementos and link targets that belong to it, each once."""
        if self.level is Level.URI:
            yield self.surt
            return
        beginning = beginning_of(self.name)
        for next_character in (")", ",", ":"):  # characters that can follow a host or a domain
            yield from (
                surt for surt in store.surts(Surt(beginning + next_character)) if self.has(surt)
            )
