"""The links of a page that count for a history, and the names of their targets."""

from collections.abc import Callable
from dataclasses import dataclass

from arclink.access.kinds import others_line
from arclink.access.queries import LinkQuery
from arclink.analysis.slices import Level
from arclink.analysis.targets import Target
from arclink.model import Kind, Outlink, Surt
from arclink.store.protocols import Answers, Scans
from arclink.uris.hosts import host_of
from arclink.uris.surts import surt_of


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

    def name_of(self, link: Outlink) -> str:
        """Return the name of the target of ``link``; empty if the link does not count."""
        return self.level.name_of(surt_of(link.target)) if self.wants(link.kind) else ""

    def leads_out(self, page: Surt, target: str) -> bool:
        """Return whether ``target`` is outside the page's host or domain, or inner links count."""
        if not self.is_external:
            return True
        if self.level is Level.URI:
            return host_of(Surt(target)) != host_of(page)
        return target != self.level.name_of(page)


def other_kinds_in(store: Scans, links: LinkQuery) -> list[str]:
    """Return a line for users if a store has links, but only of other kinds; else no line.

    Args:
        store: The store; it is read until a link counts, so call this only after an empty answer.
        links: The query with the kinds that count.

    Raises:
        StoreError: The store cannot be reached.
    """
    others = 0
    for block in store.scan_contents():
        wanted = [links.wants(link.kind) for link in block.links]
        for numbers in block.lists:
            if any(wanted[number] for number in numbers.tolist()):
                return []
            others += len(numbers)
    return [others_line(links.kinds, others)] if others else []


def other_kinds_to(store: Answers, target: Target, links: LinkQuery) -> list[str]:
    """Return a line for users if a target has links to it, but only of other kinds; else no line.

    Raises:
        StoreError: The store cannot be reached.
    """
    others = 0
    for surt in target.surts(store):
        for kind, count in store.inlink_kinds(surt):
            if links.wants(kind):
                return []
            others += count
    return [others_line(links.kinds, others)] if others else []
