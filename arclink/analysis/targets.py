"""The target of links that a user names: a URI, a host or a registered domain, and its SURTs."""

from dataclasses import dataclass
from typing import Self

from arclink.access.queries import BadParameterError, absolute_uri, surt_asked
from arclink.access.texts import printable_uri
from arclink.analysis.slices import Level
from arclink.model import Surt, UriR
from arclink.relations.parts import ARCHIVE, WebPart
from arclink.uris.hosts import host_of


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

    @property
    def part(self) -> WebPart:
        """The target as a part of the web."""
        if self.level is Level.URI:
            surt = printable_uri(self.surt)
            return WebPart(self.level.value, surt, surt, surt)
        return WebPart.below(self.level.value, self.name)
