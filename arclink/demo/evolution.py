"""The ordinary part of the demo archive: sites with changing pages, crawled repeatedly."""

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain, islice

from arclink.demo.captures import (
    CRAWLS,
    Crawler,
    DemoCapture,
    Dice,
    file,
    gif,
    missing,
    not_modified,
    page,
    redirect,
    revisit,
)
from arclink.demo.pages import LANGUAGES, SECTIONS, TOPICS, DemoPage, Location, Site

_HTTPS_FROM = 6
"""The crawl from which on the sites that move to ``https`` have moved."""

LINKS_A_PAGE = 6

_A, _B, _C = 0.57, 0.19, 0.19
"""Probabilities of three quadrants of the matrix of links in R-MAT, as in Graph500."""


@dataclass(frozen=True, slots=True)
class Resident:
    """A page of the site graph, with its location and the time of its existence.

    Attributes:
        number: Its node.
        location: Its location under ``http``; the site may move to ``https``.
        born: First crawl that finds it.
        gone: First crawl that does not find it any more.
    """

    number: int
    site: Site
    location: Location
    topic: int
    born: int = 0
    gone: int = len(CRAWLS)
    coding: str = ""

    def location_in(self, crawl: int) -> Location:
        """Return its location at the time of a crawl."""
        if not self.site.turns_https or crawl < _HTTPS_FROM:
            return self.location
        return Location(self.location.uri.replace("http:", "https:", 1))


@dataclass(frozen=True, slots=True)
class Edge:
    """A link of the site graph through time.

    Attributes:
        reference: In the notation of pages.
        since: First crawl that finds it.
        until: First crawl that does not find it any more.
        turn: The crawl from which on it has its second text.
    """

    reference: str
    texts: tuple[str, str]
    since: int
    until: int
    turn: int

    def text_in(self, crawl: int) -> str | None:
        """Return its text at the time of a crawl; None if the link does not exist then."""
        if not self.since <= crawl < self.until:
            return None
        return self.texts[crawl >= self.turn]


class SiteGraph:
    """Pages of all sites with their links, and their appearance at the time of a crawl.

    The first pages are the home pages of the sites; they are also the hubs of the R-MAT graph.
    """

    def __init__(self, sites: Sequence[Site], pages: int, dice: Dice) -> None:
        self._dice = dice
        self.residents = [self._resident(number, sites) for number in range(max(pages, len(sites)))]
        self._edges: defaultdict[int, list[Edge]] = defaultdict(list)
        for source, target in _rmat_edges(
            len(self.residents), LINKS_A_PAGE * len(self.residents), dice
        ):
            self._edges[source].append(self._edge(self.residents[source], self.residents[target]))
        self._versions: dict[tuple[int, tuple[str | None, ...]], DemoPage] = {}

    def _resident(self, number: int, sites: Sequence[Site]) -> Resident:
        dice = self._dice
        if number < len(sites):
            home = Location(f"http://{sites[number].host}/")
            return Resident(number, sites[number], home, number % len(TOPICS))
        site = sites[int(len(sites) * dice.roll() ** 2)]
        topic = dice.below(len(TOPICS))
        directory = f"/{dice.pick(SECTIONS)}/"
        name = f"{TOPICS[topic]}-{number}.html"
        if dice.chance(0.2):
            name = f"article.php?id={number}&lang={site.language}"
        born = dice.below(4) if dice.chance(0.3) else 0
        gone = 5 + dice.below(5) if dice.chance(0.15) else len(CRAWLS)
        coding = dice.pick(("", "", "", "", "gzip", "gzip", "chunked"))
        location = Location(f"http://{site.host}{directory}{name}")
        return Resident(number, site, location, topic, born, gone, coding)

    def _edge(self, source: Resident, target: Resident) -> Edge:
        dice = self._dice
        language = LANGUAGES[source.site.language]
        topic = target.site.name if target.location.path == "/" else language.topics[target.topic]
        first, second = (dice.pick(language.phrases).format(topic) for _ in range(2))
        since = dice.below(7) if dice.chance(0.35) else 0
        until = since + 1 + dice.below(6) if dice.chance(0.25) else len(CRAWLS)
        turn = 2 + dice.below(7) if dice.chance(0.3) else len(CRAWLS)
        return Edge(self._reference(source, target), (first, second), since, until, turn)

    def _reference(self, source: Resident, target: Resident) -> str:
        dice = self._dice
        fragment = "#results" if dice.chance(0.1) else ""
        absolute = target.location.uri + fragment
        if source.site.host != target.site.host:
            return absolute.removeprefix("http:") if dice.chance(0.15) else absolute
        roll, path = dice.roll(), target.location.path
        if roll < 0.4:
            return path + fragment
        if roll < 0.8:
            return f"{between(source.location.path, path)} => {path}"
        return absolute.removeprefix("http:") if roll < 0.88 else absolute

    def page_in(self, resident: Resident, crawl: int) -> DemoPage:
        """Return a page at the time of a crawl.

        The same object as long as nothing in it changes.
        """
        texts = tuple(edge.text_in(crawl) for edge in self._edges[resident.number])
        key = resident.number, texts
        if key not in self._versions:
            self._versions[key] = self._write(resident, texts)
        return self._versions[key]

    def _write(self, resident: Resident, texts: Sequence[str | None]) -> DemoPage:
        site, language = resident.site, LANGUAGES[resident.site.language]
        stories = "".join(
            f"¶{language.sentences[number % len(language.sentences)]} [{edge.reference}|{text}]\n"
            for number, (edge, text) in enumerate(
                zip(self._edges[resident.number], texts, strict=True)
            )
            if text is not None
        )
        topic = language.topics[resident.topic]
        return DemoPage(
            f"{topic} · {site.name} · {resident.number}",
            f"{navigation(site)}<h1>{escape(topic)}</h1>\n[!/images/logo.gif|{site.name}]\n{stories}"
            f"¶[mailto:desk@{site.host.removeprefix('www.')}|✉] "
            '<a href="javascript:history.back()">«</a>',
            '= link@href /style.css||stylesheet\n<link rel="stylesheet" href="/style.css">',
            charset=site.charset,
            language=site.language,
        )


def between(page: str, target: str) -> str:
    """Return the shortest reference from a folder to a path on the same host.

    >>> between("/a/b/page", "/a/c/x"), between("/a/", "/")
    ('../c/x', '../')
    """
    # A letter after the target, so that a folder is a file in it.
    return posixpath.relpath(target + "x", posixpath.dirname(page))[:-1]


def navigation(site: Site) -> str:
    """Return the navigation with which every page of a site begins, in the notation."""
    language = LANGUAGES[site.language]
    sections = "".join(
        f"[/{section}/|{language.topics[number]}]\n" for number, section in enumerate(SECTIONS)
    )
    return (
        f"<nav>\n[/|{language.home}]\n{sections}"
        "[http://www.kalvik2010.example/|Kalvik 2010|external]\n</nav>\n"
    )


def _not_found(site: Site, number: int) -> DemoPage:
    """Return the page that a site shows with status 404."""
    return DemoPage(
        f"404 · {site.name} · {number}",
        f"{navigation(site)}<p>404</p>",
        charset=site.charset,
        language=site.language,
    )


class Evolution:
    """Crawls a site graph; an unchanged page usually becomes a revisit."""

    def __init__(self, graph: SiteGraph, crawler: Crawler) -> None:
        self._graph = graph
        self._crawler = crawler
        self._dice = crawler.dice
        self._payloads: dict[DemoPage, DemoCapture] = {}
        self._latest: dict[str, tuple[DemoPage, DemoCapture]] = {}

    def captures(self, count: int) -> Iterator[DemoCapture]:
        """Yield exactly ``count`` captures, crawl by crawl, about the same number in each."""
        for crawl in range(len(CRAWLS)):
            quota = count * (crawl + 1) // len(CRAWLS) - count * crawl // len(CRAWLS)
            # islice requests no capture that it does not yield: a payload that later captures
            # repeat is in the archive.
            yield from islice(
                chain.from_iterable(
                    self._visit(resident, crawl) for resident in self._visits(crawl)
                ),
                quota,
            )

    def _visits(self, crawl: int) -> Iterator[Resident]:
        """Yield the pages that a crawl visits, without end.

        Half of the visits go round the pages in turn, beginning where earlier crawls visited least;
        the others are random.
        """
        residents = self._graph.residents
        start = crawl * len(residents) // 3
        for number in range(1 << 60):
            yield residents[
                (start + number // 2) % len(residents)
                if number % 2
                else self._dice.below(len(residents))
            ]

    def _visit(self, resident: Resident, crawl: int) -> Iterator[DemoCapture]:
        dice, crawler = self._dice, self._crawler
        location = resident.location_in(crawl)
        if dice.chance(0.06):
            logo = Location(f"{location.origin}/images/logo.gif")
            yield file(crawler.time(crawl), logo, "image/gif", gif(resident.site.host))
            return
        if not resident.born <= crawl < resident.gone:
            lost = _not_found(resident.site, resident.number)
            yield missing(crawler.time(crawl), location, lost)
            return
        written = self._graph.page_in(resident, crawl)
        if location != resident.location and dice.chance(0.2):
            yield redirect(crawler.time(crawl), resident.location, 301, location.uri)
        yield self._capture(resident, location, written, crawl)

    def _capture(
        self, resident: Resident, location: Location, written: DemoPage, crawl: int
    ) -> DemoCapture:
        before, latest = self._payloads.get(written), self._latest.get(location.uri)
        roll, moment = self._dice.roll(), self._crawler.time(crawl)
        if latest is not None and latest[0] is written and roll < 0.15:
            return not_modified(moment, latest[1])
        if before is not None and roll < 0.75:
            capture = revisit(moment, location, before)
        else:
            capture = page(moment, location, written, resident.coding)
            self._payloads[written] = capture
        self._latest[location.uri] = written, capture
        return capture


def _rmat_edges(nodes: int, edges: int, dice: Dice) -> Iterator[tuple[int, int]]:
    """Yield ``edges`` pairs (source, target) over nodes 0 to ``nodes`` - 1, by recursive descent.

    Low numbers are the hubs. Pairs may repeat, but no pair has equal ends. With fewer than two
    nodes there are no pairs.

    Source: Chakrabarti, Zhan, Faloutsos: *R-MAT: A Recursive Model for Graph Mining*, SDM 2004.
    """
    if nodes < 2:
        return
    levels = (nodes - 1).bit_length()
    made = 0
    while made < edges:
        source = target = 0
        for _ in range(levels):
            roll = dice.roll()
            source = source * 2 + (roll >= _A + _B)
            target = target * 2 + (_A <= roll < _A + _B or roll >= _A + _B + _C)
        if source != target and source < nodes and target < nodes:
            made += 1
            yield source, target
