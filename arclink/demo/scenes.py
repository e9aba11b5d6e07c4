"""Scenes of the demo archive, in addition to its ordinary crawls.

Each scene shows one case that is easy to get wrong. A scene is a function that returns captures of
pages that no other scene uses. It is included completely or not at all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arclink.demo.captures import Crawler, DemoCapture
from arclink.demo.locations import BaseElement, Location
from arclink.demo.pages import UTF_8, Charset, DemoPage, Part, heading
from arclink.demo.world import Site


@dataclass(frozen=True, slots=True)
class SceneStage:
    """The sites that a scene may use, and the crawler that captures it."""

    sites: Sequence[Site]
    crawler: Crawler

    def at(self, number: int, path: str, scheme: str = "http", query: str = "") -> Location:
        """Return a location on site ``number``, modulo the number of sites.

        ``path`` is serialised.
        """
        directory, slash, name = path.rpartition("/")
        return Location(
            scheme, self.sites[number % len(self.sites)].host, directory + slash, name, query
        )


Scene = Callable[[SceneStage], list[DemoCapture]]


def page(
    title: str,
    *parts: Part,
    head: Sequence[Part] = (),
    base: BaseElement | None = None,
    charset: Charset = UTF_8,
    language: str = "en",
    body_tag: str = "body",
) -> DemoPage:
    """Return a page with its title as a heading above ``parts``."""
    shown = parts if body_tag == "frameset" else (heading(title), *parts)
    return DemoPage(title, shown, head, base, charset, language, body_tag)
