"""Parts of the web, as questions to the relations name them."""

from typing import NamedTuple, Self

LAST = "\U0010ffff"
"""No SURT has this character: what begins like a SURT is not after the SURT with it."""


class WebPart(NamedTuple):
    """A part of the web (``relations/questions/common.sql``).

    Attributes:
        part: ``archive``, ``site``, ``prefix``, or the name of a level.
        name: Of the host or domain; for a URI, its SURT.
        first: No SURT of it is before this one.
        last: No SURT of it is after this one.
    """

    part: str = "archive"
    name: str = ""
    first: str = ""
    last: str = LAST

    @classmethod
    def below(cls, part: str, name: str) -> Self:
        """Return a host or domain.

        >>> WebPart.below("domain", "bbc.co.uk").first
        'uk,co,bbc)'
        """
        if ":" in name:  # nothing is below an address, and what has a port is another name
            return cls(part, name, f"{name})", f"{name}*")
        beginning = ",".join(reversed(name.split(".")))
        return cls(part, name, f"{beginning})", f"{beginning};")

    def has(self, surt: str) -> bool:
        """Return whether the part has a page, as ``is_of`` in SQL.

        >>> site = WebPart.below("site", "a.example")
        >>> [site.has(f"example,{host})/") for host in ("a", "a,b", "a-b")]
        [True, True, False]
        """
        ends = {"host": "):", "site": "),:"}.get(self.part)
        if not self.first <= surt <= self.last:
            return False
        return ends is None or surt[len(self.first) - 1] in ends


ARCHIVE = WebPart()
"""The whole archive."""
