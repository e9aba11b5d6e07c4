"""Which links of a page count for a history, and what they lead to."""

from collections.abc import Callable
from dataclasses import dataclass

from arclink.analysis.slices import Level
from arclink.model import Kind, Outlink, Surt
from arclink.uris.hosts import host_of
from arclink.uris.surts import surt_of


@dataclass(frozen=True, slots=True)
class LinkScope:
    """Which links count. A page has one link to a target, however often and with whatever words it links there.

    Attributes:
        level: What targets are put together by; a target without host (``mailto:``) does not count.
        wants: Whether links of a kind count.
        is_external: Only links that lead out of the page's host, or out of its domain at that level.
    """

    level: Level
    wants: Callable[[Kind], bool] = lambda _: True
    is_external: bool = False

    def name_of(self, link: Outlink) -> str:
        """Return the target that ``link`` counts for; empty if it does not count."""
        return self.level.name_of(surt_of(link.target)) if self.wants(link.kind) else ""

    def leads_out(self, page: Surt, target: str) -> bool:
        """Tell whether ``target`` is outside of the page's host or domain, or whether that does not matter."""
        if not self.is_external:
            return True
        if self.level is Level.URI:
            return host_of(Surt(target)) != host_of(page)
        return target != self.level.name_of(page)
